package io.pendula;

import static io.pendula.internal.queue.TimerNode.CANCELLED;
import static io.pendula.internal.queue.TimerNode.CANCELLED_QUEUED;
import static io.pendula.internal.queue.TimerNode.DELETED;
import static io.pendula.internal.queue.TimerNode.DELETED_QUEUED;
import static io.pendula.internal.queue.TimerNode.MODIFIED_EARLIER;
import static io.pendula.internal.queue.TimerNode.MODIFIED_LATER;
import static io.pendula.internal.queue.TimerNode.MOVING;
import static io.pendula.internal.queue.TimerNode.NO_STATUS;
import static io.pendula.internal.queue.TimerNode.REMOVED;
import static io.pendula.internal.queue.TimerNode.RUNNING;
import static io.pendula.internal.queue.TimerNode.RUNNING_ARMED;
import static io.pendula.internal.queue.TimerNode.RUNNING_CANCELLED;
import static io.pendula.internal.queue.TimerNode.WAITING;
import static io.pendula.internal.queue.TimerNode.isArmed;
import static io.pendula.internal.queue.TimerNode.isFiled;
import static io.pendula.internal.queue.TimerNode.isQueued;
import static io.pendula.internal.queue.TimerNode.isRunning;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import io.pendula.internal.queue.InsideInbox;

import io.pendula.internal.engine.QueuedNode;
import io.pendula.internal.queue.QueueView;
import io.pendula.internal.queue.TimerNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each operation in each state, on a queue alone: what the table in TimerNode says happens, and nothing else. */
class TransitionTableTest extends QueueCase {
    private static final String NEW = "NEW";
    private static final String OTHERS = "others";
    private static final String SAME = "same";
    /** By TimerQueueTest, as it depends on the heap, on the timer's kind, or on memory what they do. */
    private static final Set<String> TRIED_ELSEWHERE = Set.of("run (top)", "clean (top)", "take back");
    /** These are not called in each state. */
    private static final Set<String> WITH_A_CONDITION = Set.of("arm", "receive", "run end");
    /** These make one operation. */
    private static final String RESET = "reset";
    private static final String LATER = RESET + ", later";
    private static final String EARLIER = RESET + ", earlier";

    /** How a timer comes into a state. */
    private static final Map<String, Function<QueueCase, QueuedNode>> STATES = new LinkedHashMap<>();
    private static final Map<String, Integer> CODES = new LinkedHashMap<>();

    private static void state(String name, int code, Function<QueueCase, QueuedNode> timer) {
        STATES.put(name, timer);
        CODES.put(name, code);
    }

    static {
        state(NEW, NO_STATUS, c -> new OneShotTimer(c.queue, () -> {}));
        state("NO_STATUS", NO_STATUS, QueueCase::fired);
        state("KEPT", NO_STATUS, QueueCase::kept);
        state("REMOVED", REMOVED, QueueCase::removed);
        state("CANCELLED", CANCELLED, QueueCase::cancelled);
        state("RUNNING", RUNNING, QueueCase::running);
        state("RUNNING_ARMED", RUNNING_ARMED, QueueCase::runningArmed);
        state("RUNNING_CANCELLED", RUNNING_CANCELLED, QueueCase::runningCancelled);
        state("DELETED", DELETED, QueueCase::deleted);
        state("WAITING", WAITING, QueueCase::waiting);
        state("MODIFIED_LATER", MODIFIED_LATER, QueueCase::modifiedLater);
        state("MOVING", MOVING, QueueCase::moving);
        state("MODIFIED_EARLIER", MODIFIED_EARLIER, QueueCase::modifiedEarlier);
        state("DELETED_QUEUED", DELETED_QUEUED, QueueCase::deletedQueued);
        state("CANCELLED_QUEUED", CANCELLED_QUEUED, QueueCase::cancelledQueued);
    }

    /** One step of the table. */
    record Row(String operation, String from, String to, String result, String remark) {
        int code() {
            return CODES.get(to.equals(SAME) ? from : to);
        }

        @Override
        public String toString() {
            return from + " -> " + to + " " + result + (remark.isEmpty() ? "" : ": " + remark);
        }
    }

    private static final Pattern LINE = Pattern.compile(" {5}\\* (.{16})(\\w[\\w, ]*) -> (\\w+) +(true|false|throws|-)(?: +(.*))?");
    private static final List<Row> TABLE = read();

    private static List<Row> read() {
        List<Row> rows = new ArrayList<>();
        String operation = "";
        try {
            for (String line : Files.readAllLines(LibrarySources.file("TimerNode.java"))) {
                Matcher m = LINE.matcher(line);
                if (m.matches()) {
                    operation = m.group(1).isBlank() ? operation : m.group(1).strip();
                    for (String from : m.group(2).strip().split(", *")) {
                        rows.add(new Row(operation, from, m.group(3), m.group(4), m.group(5) == null ? "" : m.group(5)));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return rows;
    }

    /** With a row for each state that "others" stands for. */
    static Stream<Row> rows(String operation) {
        List<Row> rows = TABLE.stream().filter(r -> r.operation().equals(operation)).toList();
        assertTrue(!rows.isEmpty(), () -> "no row for " + operation);
        Set<String> named = new HashSet<>(rows.stream().map(Row::from).toList());
        return rows.stream().flatMap(r -> !r.from().equals(OTHERS) ? Stream.of(r)
                : STATES.keySet().stream().filter(s -> !s.equals(NEW) && !named.contains(s))
                        .map(s -> new Row(operation, s, r.to(), r.result(), r.remark())));
    }

    @Test
    void table_eachOperation_hasOneRowForEachState() {
        Map<String, Set<String>> states = new LinkedHashMap<>();
        List<String> twice = new ArrayList<>();
        for (String operation : TABLE.stream().map(Row::operation).distinct().toList()) {
            if (!TRIED_ELSEWHERE.contains(operation) && !WITH_A_CONDITION.contains(operation)) {
                rows(operation).forEach(r -> {
                    boolean isNew = states.computeIfAbsent(operation, o -> new HashSet<>()).add(r.from());
                    if (!isNew) {
                        twice.add(operation + " from " + r.from());
                    }
                });
            }
        }
        assertEquals(List.of(), twice);
        assertEquals(states.remove(LATER), states.get(EARLIER));
        states.get(RESET).addAll(states.remove(EARLIER));
        Set<String> all = new HashSet<>(STATES.keySet());
        all.remove(NEW);
        assertEquals(Set.of("stop", "cancel", "abort", RESET, "claim stopped", "retime", "drain", "sweep", "close"),
                states.keySet());
        states.forEach((operation, of) -> assertEquals(all, of, operation));
    }

    private interface Operation {
        /** What it returned. */
        Object on(QueuedNode t, long when);
    }

    static Stream<Row> arm() {
        return rows("arm");
    }

    @ParameterizedTest
    @MethodSource("arm")
    void arm_new_goesAsTheTableSays(Row row) {
        for (long when : new long[] {400, 600}) {
            check(row, d -> when, (t, at) -> {
                queue.arm(t, at);
                return "-";
            });
        }
    }

    static Stream<Row> stop() {
        return rows("stop");
    }

    @ParameterizedTest
    @MethodSource("stop")
    void stop_eachState_goesAsTheTableSays(Row row) {
        check(row, d -> d, (t, when) -> queue.stop(t));
    }

    static Stream<Row> cancel() {
        return rows("cancel");
    }

    @ParameterizedTest
    @MethodSource("cancel")
    void cancel_eachState_goesAsTheTableSays(Row row) {
        assertNull(check(row, d -> d, (t, when) -> queue.cancel(t)).work());
    }

    static Stream<Row> abort() {
        return rows("abort");
    }

    @ParameterizedTest
    @MethodSource("abort")
    void abort_eachState_goesAsTheTableSays(Row row) {
        QueuedNode t = check(row, d -> d, (a, when) -> queue.abort(a) >= 0);
        assertTrue(row.result().equals("false") || t.work() == null);
    }

    static Stream<Row> resetLater() {
        return Stream.concat(rows(LATER), rows(RESET));
    }

    @ParameterizedTest
    @MethodSource("resetLater")
    void resetLater_eachState_goesAsTheTableSays(Row row) {
        for (int by : new int[] {0, 1, 500}) {
            check(row, d -> d + by, reset());
        }
    }

    static Stream<Row> resetEarlier() {
        return Stream.concat(rows(EARLIER), rows(RESET));
    }

    /** By one, to before its entry's key, and to before the owner's sleep ends. */
    @ParameterizedTest
    @MethodSource("resetEarlier")
    void resetEarlier_eachState_goesAsTheTableSays(Row row) {
        check(row, d -> d - 1, reset());
        check(row, d -> Math.min(540, d - 1), reset());
        check(row, d -> Math.min(400, d - 1), reset());
    }

    static Stream<Row> claimStopped() {
        return rows("claim stopped");
    }

    @ParameterizedTest
    @MethodSource("claimStopped")
    void claimStopped_eachState_goesAsTheTableSays(Row row) {
        check(row, d -> d, (t, when) -> queue.claimStopped(t));
    }

    static Stream<Row> retime() {
        return rows("retime");
    }

    @ParameterizedTest
    @MethodSource("retime")
    void retime_eachState_goesAsTheTableSays(Row row) {
        check(row, d -> row.from().equals("RUNNING_ARMED") ? 400 : d, (t, when) -> {
            queue.retime(t, 400);
            return "-";
        });
    }

    static Stream<Row> drain() {
        return rows("drain");
    }

    @ParameterizedTest
    @MethodSource("drain")
    void drain_eachState_goesAsTheTableSays(Row row) {
        check(row, d -> d, (t, when) -> {
            rig.drain();
            return "-";
        });
    }

    static Stream<Row> receive() {
        return rows("receive");
    }

    @ParameterizedTest
    @MethodSource("receive")
    void receive_kept_goesAsTheTableSays(Row row) {
        QueuedNode received = check(row, d -> d, (t, when) -> t.tryReceive(t.wordVolatile()));
        assertTrue(!received.tryReceive(TimerNode.word(rig.deadline(received), NO_STATUS)));
    }

    static Stream<Row> runEnd() {
        return rows("run end");
    }

    @ParameterizedTest
    @MethodSource("runEnd")
    void runEnd_eachRun_goesAsTheTableSays(Row row) {
        check(row, d -> d, (t, when) -> {
            queue.endRun(t);
            return "-";
        });
    }

    static Stream<Row> sweep() {
        return rows("sweep");
    }

    @ParameterizedTest
    @MethodSource("sweep")
    void sweep_eachState_goesAsTheTableSays(Row row) {
        check(row, d -> d, (t, when) -> {
            rig.sweepAll();
            return "-";
        });
    }

    static Stream<Row> close() {
        return rows("close");
    }

    @ParameterizedTest
    @MethodSource("close")
    void close_eachState_goesAsTheTableSays(Row row) {
        List<TimerNode> unfired = new ArrayList<>();
        QueuedNode closed = check(row, d -> d, (t, when) -> {
            queue.closer.close(unfired);
            assertTrue(queue.isClosed());
            if (isRunning(rig.state(t))) {
                queue.closer.collectRunning(t, unfired);
            }
            return "-";
        });
        assertEquals(row.remark().contains("collected"), unfired.contains(closed));
        assertEquals(row.remark().contains("collected") ? 2 : 1, unfired.size(), "with the anchor");
    }

    private Operation reset() {
        return (t, when) -> queue.reset(t, when);
    }

    // ---- what must be true after the operation ----

    /** {@code instant}: of the operation, and of the timer then; from its deadline before. */
    private QueuedNode check(Row row, LongUnaryOperator instant, Operation operation) {
        sleepUntilTheAnchor();
        STATES.get(row.from()).apply(this);
        QueueView.Snapshot before = queue.view().stats(); // drains the inbox, so of a queue of its own

        sleepUntilTheAnchor();
        QueuedNode t = STATES.get(row.from()).apply(this);
        int from = rig.state(t);
        int stale = rig.dead();
        long deadline = rig.deadline(t);
        long when = instant.applyAsLong(deadline);
        Object task = t.work();
        assertEquals(CODES.get(row.from()), from);
        assertEquals(0, rig.owner.wakes);

        Object result;
        try {
            result = operation.on(t, when);
        } catch (IllegalStateException e) {
            result = "throws";
        }
        assertEquals(row.result(), result.toString());
        assertWord(t, row.code(), row.result().equals("throws") ? deadline : when);
        assertTrue(t.work() == task || Set.of("cancel", "abort").contains(row.operation()), "its task");
        assertEquals(isQueued(row.code()), InsideInbox.inboxHead(queue) == t, "it is in the inbox");
        assertEquals(isQueued(row.code()) && !isQueued(from), row.remark().startsWith("pushed"), "pushed");
        boolean isWaker = row.operation().startsWith(RESET) || row.operation().equals("arm");
        assertEquals(isWaker && isQueued(row.code()) && isArmed(row.code()) && when < Math.min(ANCHOR, late(from, deadline)) ? 1 : 0,
                rig.owner.wakes, "wakes");
        checkBooks(row, t, from, stale, before);
        return t;
    }

    /** A timer in the inbox that is put off needs no wake. */
    private static long late(int from, long deadline) {
        return isQueued(from) && isArmed(from) ? deadline : Long.MAX_VALUE;
    }

    private void checkBooks(Row row, QueuedNode t, int from, int staleBefore, QueueView.Snapshot before) {
        String operation = row.operation();
        boolean isClose = operation.equals("close");
        boolean ended = isArmed(from) && !isArmed(row.code());
        int stale = isClose || operation.equals("sweep") ? 0 : staleBefore
                + (isFiled(from) && !isFiled(row.code()) ? 1 : 0) - (from == DELETED && isFiled(row.code()) ? 1 : 0);
        if (row.remark().contains("its entry")) {
            assertEquals(row.remark().contains("stale now"), stale > staleBefore, "its entry is stale now");
            assertEquals(row.remark().contains("lives again"), stale < staleBefore, "its entry lives again");
        }
        assertEquals(stale, rig.dead(), "stale entries");
        if (!isClose) {
            rig.drain();
        }
        int rests = rows("drain").filter(r -> CODES.get(r.from()) == row.code()).findFirst().orElseThrow().code();
        int state = isClose ? row.code() : rests;
        assertEquals(state, rig.state(t), "after a drain");
        assertNull(InsideInbox.link(t), "its link");
        assertEquals(isClose ? 0 : 1 + stale + (isFiled(state) ? 1 : 0), rig.entries(), "entries, with the anchor");
        QueueView.Snapshot after = queue.view().stats();
        assertEquals(stale, after.get(QueueView.Count.STALE_ENTRIES), "stale entries in the statistics");
        assertEquals(isClose ? 0 : isFiled(state) ? 2 : 1, after.get(QueueView.Count.PENDING), "pending, with the anchor");
        assertEquals(before.get(QueueView.Count.FIRED), after.get(QueueView.Count.FIRED), "fired");
        boolean disarms = Set.of("stop", "cancel", "abort").contains(operation);
        assertEquals(disarms && ended ? 1 : 0, after.get(QueueView.Count.STOPPED) - before.get(QueueView.Count.STOPPED), "stopped");
        assertEquals(operation.startsWith(RESET) && isArmed(from) ? 1 : 0, after.get(QueueView.Count.RESETS) - before.get(QueueView.Count.RESETS), "reset");
        assertEquals(isClose ? ended ? 2 : 1 : 0, after.get(QueueView.Count.UNFIRED), "unfired, with the anchor");
        assertSame(queue, QueuedNode.queueOf(t));
    }
}
