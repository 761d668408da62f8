package io.pendula.soak;

import io.pendula.MissedTicks;
import io.pendula.Ticker;
import io.pendula.TimerScheduler;
import io.pendula.TimerStats;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A mixed load at the limit of the machine, for as long as one wants: millions of live timers that are reset, stopped and
 * fire; mass stops, so that queues are swept; tickers; callbacks that block and throw; schedulers, pools and loops that
 * come and go; memory that is short now and then; and a process that is suspended now and then. In the end each arming
 * must have come to one end, by its own account and by the scheduler's. See {@code .ci/soak}.
 */
public final class Soak {
    private static final int HOT = 64;
    private static final long FAR_NANOS = TimeUnit.MINUTES.toNanos(100);
    private static final long NEAR_NANOS = 20_000_000;
    private static final int TICKERS = 100;
    private static final long SUSPENSION_NANOS = 1_500_000_000;
    /** Of the tick that is just due, what a busy machine may be behind. */
    private static final long TICKS_BEHIND_NANOS = 5_000_000_000L;
    private static final int BALLAST = 256 * 1024;
    private static final int SPARE_BALLAST = 8;
    private static final int SHORTAGE_REFUSALS = 3;

    private final int seconds;
    private final int drivers = Runtime.getRuntime().availableProcessors();
    private final Ledger ledger = new Ledger();
    private final Account[] accounts;
    /** Of the accounts alone, so that its figures can be compared with theirs. */
    private final TimerScheduler scheduler;
    /** Of tickers, and of loops that come and go. */
    private final TimerScheduler house;
    private volatile boolean over;
    private volatile int shareToStop;
    private long heapAtBegin;
    private long heapMost;
    private int heapLooks;
    private long armedInShortages;

    private Soak(int seconds, int timers) {
        this.seconds = seconds;
        this.accounts = new Account[timers + HOT];
        this.scheduler = TimerScheduler.builder().name("soak").workers(drivers).maxThreads(drivers + 4).listener(ledger)
                .build();
        this.house = TimerScheduler.builder().name("house").listener(ledger).build();
    }

    /**
     * Runs a soak. The exit status is 0 if all was as it must be.
     *
     * @param args for how many seconds; how many timers live
     */
    public static void main(String[] args) throws Exception {
        Soak soak = new Soak(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        Thread.setDefaultUncaughtExceptionHandler(soak.ledger);
        System.exit(soak.run() ? 0 : 1);
    }

    private boolean run() throws InterruptedException {
        System.out.printf(Locale.ROOT, "soak: %d s, %,d timers, %d threads that arm, a heap of %,d MB%n", seconds,
                accounts.length - HOT, drivers, Runtime.getRuntime().maxMemory() >> 20);
        List<Thread> all = new ArrayList<>();
        for (int d = 0; d < drivers; d++) {
            int number = d;
            all.add(start("soak-fill", () -> fill(number)));
        }
        joinAll(all);
        heapAtBegin = usedHeap();
        List<Tick> ticks = new ArrayList<>();
        for (int i = 0; i < TICKERS; i++) {
            ticks.add(new Tick(i));
        }
        all.clear();
        for (int d = 0; d < drivers; d++) {
            int number = d;
            all.add(start("soak-drive-" + d, () -> drive(number)));
        }
        all.add(start("soak-guests", this::receive));
        disturb();
        over = true;
        joinAll(all);
        ticks.forEach(Tick::end);
        lookAtHeap();
        settle();
        return ledger.complaints.get() == 0;
    }

    private Thread start(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    private void joinAll(List<Thread> threads) throws InterruptedException {
        for (Thread t : threads) {
            t.join(TimeUnit.NANOSECONDS.toMillis(10 * Ledger.LOST_NANOS));
            if (t.isAlive()) {
                ledger.complain(t.getName() + " still runs at " + List.of(t.getStackTrace()));
            }
        }
    }

    // ---- the load ----

    private int first(int driver) {
        return HOT + (int) ((long) (accounts.length - HOT) * driver / drivers);
    }

    private void fill(int driver) {
        SplittableRandom r = new SplittableRandom(driver);
        for (int i = driver == 0 ? 0 : first(driver); i < first(driver + 1); i++) {
            accounts[i] = new Account(ledger);
            accounts[i].arm((nanos, callback) -> scheduler.after(nanos, TimeUnit.NANOSECONDS, callback),
                    FAR_NANOS + r.nextLong(FAR_NANOS));
        }
    }

    private void drive(int driver) {
        SplittableRandom r = new SplittableRandom(~driver);
        int first = first(driver);
        int end = first(driver + 1);
        int stopAll = shareToStop;
        while (!over) {
            if (stopAll != shareToStop) {
                stopAll = shareToStop;
                for (int i = first; i < first + (end - first) / 100 * stopAll; i++) {
                    accounts[i].stop();
                }
            }
            for (int i = 0; i < 1024; i++) {
                int dice = r.nextInt(1_000);
                if (dice < 200) {
                    hot(accounts[r.nextInt(HOT)], r);
                } else {
                    act(accounts[r.nextInt(first, end)], dice, r);
                }
            }
            ledger.calls.addAndGet(1024);
        }
    }

    private static void act(Account a, int dice, SplittableRandom r) {
        if (dice < 250) {
            a.reset(r.nextLong(NEAR_NANOS));
        } else if (dice < 350) {
            a.stop();
            a.reset(FAR_NANOS + r.nextLong(FAR_NANOS));
        } else {
            a.reset(FAR_NANOS + r.nextLong(FAR_NANOS));
        }
    }

    private static void hot(Account a, SplittableRandom r) {
        if (r.nextInt(3) == 0) {
            a.stop();
        } else {
            a.resetShared(r.nextInt(4) == 0 ? FAR_NANOS : r.nextLong(200_000));
        }
    }

    private void receive() {
        Guests guests = new Guests(house, ledger, 7);
        try {
            while (!over) {
                guests.one();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Its ticks and what it says it has missed must add up to the time that has passed. */
    private final class Tick implements Runnable {
        private final AtomicLong ticks = new AtomicLong();
        private final AtomicLong inside = new AtomicLong();
        private final long begun = System.nanoTime();
        private final long period;
        private final Ticker ticker;

        Tick(int number) {
            period = TimeUnit.MICROSECONDS.toNanos(1_000 + 4_999L * number);
            ticker = house.every(Duration.ofNanos(period), number % 2 == 0 ? MissedTicks.SKIP : MissedTicks.BURST, this);
        }

        @Override
        public void run() {
            if (inside.getAndIncrement() != 0) {
                ledger.complain("a ticker overlapped itself");
            }
            ticks.incrementAndGet();
            inside.decrementAndGet();
        }

        void end() {
            ticker.stop();
            long passed = System.nanoTime() - begun;
            long counted = ticks.get() + ticker.missed();
            if (counted > passed / period + 1 || counted < (passed - TICKS_BEHIND_NANOS) / period - 1) {
                ledger.complain("a ticker with a period of " + period + " ns has counted " + counted + " ticks in "
                        + passed + " ns");
            }
        }
    }

    // ---- what happens now and then ----

    /** In turn, so that each comes at least once in a short soak, and every two minutes in a long one. */
    private void disturb() throws InterruptedException {
        long begun = System.nanoTime();
        int rounds = Math.max(1, seconds / 120);
        long pause = TimeUnit.SECONDS.toNanos(seconds) / (4L * rounds + 1);
        for (int n = 1; n <= 4 * rounds; n++) {
            report(begun, begun + n * pause);
            ledger.disturbances.incrementAndGet();
            switch (n % 4) {
                case 1 -> sweep(n);
                case 2 -> suspend();
                case 3 -> shortage();
                default -> lookAtHeap();
            }
            ledger.disturbances.incrementAndGet();
        }
        report(begun, begun + TimeUnit.SECONDS.toNanos(seconds));
    }

    /** Live figures, until an instant. */
    private void report(long begun, long until) throws InterruptedException {
        long each = Math.max(1, seconds / 120);
        long wakesBefore = overdueWakes();
        while (System.nanoTime() - until < 0) {
            long calls = ledger.calls.get();
            long firings = ledger.firings.get();
            long from = System.nanoTime();
            Thread.sleep(Math.max(1, Math.min(TimeUnit.SECONDS.toMillis(each), (until - from) / 1_000_000)));
            TimerStats s = scheduler.stats();
            double took = (System.nanoTime() - from) / 1e9;
            System.out.printf(Locale.ROOT, "soak: %4d s: %,d pending, %,.0f calls/s, %,.0f firings/s, worst lateness %.1f ms,"
                    + " %,d guests, %d mass stops, %d suspensions, %d shortages, heap after collections at most %+d MB%n",
                    (System.nanoTime() - begun) / 1_000_000_000, s.pending(), (ledger.calls.get() - calls) / took,
                    (ledger.firings.get() - firings) / took, s.maxLatenessNanos() / 1e6, ledger.guests.get(),
                    ledger.sweeps.get(), ledger.suspensions.get(), ledger.shortages.get(), heapMost >> 20);
            if (overdueWakes() != wakesBefore) {
                ledger.complain("a wake-up was lost: " + s + " or " + house.stats());
            }
        }
    }

    private long overdueWakes() {
        return scheduler.stats().overdueWakes() + house.stats().overdueWakes();
    }

    private void sweep(int n) {
        shareToStop = 40 + n % 20; // another number each time
        ledger.sweeps.incrementAndGet();
    }

    /** By another process, as none can wake itself up. */
    private void suspend() throws InterruptedException {
        String me = Long.toString(ProcessHandle.current().pid());
        try {
            Process p = new ProcessBuilder("sh", "-c", "kill -STOP " + me + "; sleep " + SUSPENSION_NANOS / 1e9
                    + "; kill -CONT " + me).inheritIO().start();
            if (p.waitFor() == 0) {
                ledger.suspensions.incrementAndGet();
                ledger.heldUpNanos.addAndGet(SUSPENSION_NANOS);
            }
        } catch (IOException e) {
            System.out.println("soak: cannot be suspended here: " + e);
        }
    }

    /** Takes all memory but some hundred kilobytes, and arms until that is refused. What was armed must fire all the same. */
    private void shortage() throws InterruptedException {
        long begun = System.nanoTime();
        Account[] own = new Account[1 << 16];
        int armed = armWithoutMemory(own);
        ledger.shortages.incrementAndGet();
        ledger.heldUpNanos.addAndGet(System.nanoTime() - begun);
        long end = System.nanoTime() + Ledger.LOST_NANOS;
        for (int i = 0; i < armed; i++) {
            while (own[i].open() != 0 && System.nanoTime() - end < 0) {
                Thread.sleep(1);
            }
            if (own[i].open() != 0) {
                ledger.complain("a timer that was armed when memory was short has the account " + own[i].open());
            }
        }
    }

    private int armWithoutMemory(Account[] own) {
        byte[][] ballast = new byte[(int) Math.min(1 << 20, Runtime.getRuntime().maxMemory() / BALLAST + 1)][];
        int blocks = 0;
        try {
            while (blocks < ballast.length) {
                ballast[blocks] = new byte[BALLAST];
                blocks++;
            }
        } catch (OutOfMemoryError e) {
            ledger.refusals.incrementAndGet();
        }
        for (int i = 0; i < SPARE_BALLAST && blocks > 0; i++) {
            ballast[--blocks] = null;
        }
        int armed = 0;
        for (int refused = 0; armed < own.length && refused < SHORTAGE_REFUSALS; ) {
            try {
                own[armed] = new Account(ledger);
                if (own[armed].arm((nanos, callback) -> scheduler.after(nanos, TimeUnit.NANOSECONDS, callback),
                        1_000_000L * (armed % 512))) {
                    armed++;
                } else {
                    refused++;
                }
            } catch (OutOfMemoryError e) {
                ledger.refusals.incrementAndGet();
                refused++;
            }
        }
        LockSupport.parkNanos(200_000_000);
        armedInShortages += armed;
        return armed;
    }

    private static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private void lookAtHeap() {
        long grown = usedHeap() - heapAtBegin;
        heapMost = Math.max(heapMost, grown);
        heapLooks++;
        long bound = heapAtBegin / 8 + (48L << 20);
        if (grown > bound) {
            ledger.complain("the heap has grown by " + (grown >> 20) + " MB, but at most " + (bound >> 20) + " expected");
        }
    }

    // ---- the end ----

    private void settle() throws InterruptedException {
        long end = System.nanoTime() + Ledger.LOST_NANOS + ledger.heldUpNanos.get();
        for (Account a : accounts) {
            while (isSoon(a) && System.nanoTime() - end < 0) {
                Thread.sleep(1);
            }
            a.stop();
        }
        for (Account a : accounts) {
            while (a.open() > 0 && System.nanoTime() - end < 0) {
                Thread.sleep(1);
            }
            if (a.open() != 0) {
                ledger.complain("a timer has the account " + a.open());
            }
        }
        TimerStats s = scheduler.stats();
        long armed = armedInShortages;
        long fired = armedInShortages;
        long taken = 0;
        for (Account a : accounts) {
            armed += a.armed();
            fired += a.fired();
            taken += a.taken();
        }
        System.out.printf(Locale.ROOT, "soak: %,d armed, %,d stopped or replaced, %,d fired; %,d callbacks threw; %,d times"
                + " there was no memory; %d mass stops, %d suspensions, %d shortages%n", armed, taken, fired,
                ledger.thrown.get(), ledger.refusals.get(), ledger.sweeps.get(), ledger.suspensions.get(),
                ledger.shortages.get());
        compare("fired", fired, s.fired());
        compare("armed", armed, s.armed());
        compare("stopped or replaced", taken, s.stopped() + s.resets());
        if (s.pending() != 0) {
            ledger.complain(s.pending() + " timers are pending, and each was stopped or has fired");
        }
        if (ledger.thrown.get() != ledger.threw.get() && ledger.shortages.get() == 0) {
            ledger.complain(ledger.thrown + " callbacks threw, and the listener was told of " + ledger.threw);
        }
        scheduler.close();
        house.close();
        System.out.printf(Locale.ROOT, "soak: %s; heap grown by %d MB at most, %d looks%n",
                ledger.complaints.get() == 0 ? "all was as it must be" : "NOT as it must be: " + ledger.complaints
                        + " complaints", heapMost >> 20, heapLooks);
    }

    /** A reset that finds no memory to be counted is not counted. */
    private void compare(String what, long ours, long theirs) {
        if (Math.abs(ours - theirs) > ledger.refusals.get()) {
            ledger.complain(String.format(Locale.ROOT, "%,d were %s, and the scheduler says %,d", ours, what, theirs));
        }
    }

    /** Due in the soak, and not an hour later: what is stopped now would not be missed. */
    private static boolean isSoon(Account a) {
        return a.timer.isPending() && a.timer.remaining().toNanos() < FAR_NANOS / 2;
    }
}
