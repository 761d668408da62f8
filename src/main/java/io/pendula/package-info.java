/**
 * Timers that are armed, reset and stopped often: timeouts, heartbeats, retries, periodic tasks.
 *
 * <pre>{@code
 * Timer timeout = Timer.after(Duration.ofSeconds(5), connection::close);
 * timeout.reset(Duration.ofSeconds(5));
 * timeout.cancel();
 *
 * Ticker flush = Ticker.every(Duration.ofSeconds(1), metrics::flush);
 * flush.close();
 * }</pre>
 *
 * <h2>The model</h2>
 *
 * <p>A {@link io.pendula.TimerScheduler} has a queue of timers for each worker thread, and for each
 * {@link io.pendula.TimerLoop}, which is a loop of the application. A timer stays in the queue on which it was armed.
 *
 * <pre>{@code
 *   any thread                        TimerScheduler
 *                           +--------------------------------------------+
 *   after(delay, task) ---> |  queue 0 ---> worker 0 ----.               |
 *   every(period, task)     |                            +--> callback   |
 *   timer.reset(delay)      |  queue 1 ---> worker 1 ----'               |
 *   timer.stop()            |                                            |
 *   loop.after(...) ------> |  queue 2 ---> your loop -------> callback  |
 *                           +--------------------------------------------+
 *
 *   The life of a timer:
 *
 *              after            due               returns
 *      (new) --------> pending -----> running ---------------> fired
 *                      |     ^            \                      |
 *                 stop |     | reset       \ reset in the        | reset
 *                      v     |              \ callback           |
 *                      stopped               '---> pending <-----'
 *
 *   In every state, cancel and close end the timer; it cannot be reset afterwards.
 * }</pre>
 *
 * <table>
 * <caption>The types</caption>
 * <tr><th>type</th><th>purpose</th></tr>
 * <tr><td>{@link io.pendula.Timer}, {@link io.pendula.Ticker}</td><td>fires once; fires periodically</td></tr>
 * <tr><td>{@link io.pendula.Alarm}</td><td>a timer that threads wait for, once or periodically</td></tr>
 * <tr><td>{@link io.pendula.Schedule}</td><td>wall-clock times</td></tr>
 * <tr><td>{@link io.pendula.RunLimit}</td><td>limits how long a thread may block</td></tr>
 * <tr><td>{@link io.pendula.Timers}</td><td>the methods that schedulers, loops and groups share</td></tr>
 * <tr><td>{@link io.pendula.TimerScheduler}</td><td>runs timers, on its own threads or in loops</td></tr>
 * <tr><td>{@link io.pendula.TimerLoop}</td><td>runs timers in a thread of the application</td></tr>
 * <tr><td>{@link io.pendula.TimerGroup}</td><td>timers that are cancelled together</td></tr>
 * <tr><td>{@link io.pendula.TimerExecutors}</td><td>executors that replace those of
 *     {@code java.util.concurrent}</td></tr>
 * <tr><td>{@link io.pendula.TimerListener}, {@link io.pendula.TimerStats}</td>
 *     <td>reports failures; counts and lateness</td></tr>
 * <tr><td>{@link io.pendula.ManualClock}</td><td>time under the control of a test</td></tr>
 * </table>
 *
 * <h2>Guarantees</h2>
 * <ol>
 * <li>A timer never fires early, measured on the scheduler's clock, and never inside the call that arms it.
 * <li>Each time a timer is armed, exactly one of these happens: it fires; one call of {@code stop}, {@code cancel} or
 *     {@code reset} returns true; or its scheduler or loop is closed first.
 * <li>Any thread may call these methods at any time. They do not block, and a race with the firing is never an error.
 *     But if {@code maxPending} timers are armed, the reset of a timer that has just fired may be rejected. A call that
 *     arms may wait in three cases: with a {@code ManualClock}, in a {@code TimerGroup}, and while your
 *     {@code ThreadFactory} creates a thread that the call needs.
 * <li>No wake-up is lost: an armed timer runs when it is due, even if all workers were sleeping when it was armed.
 * <li>If a callback throws, no other timer is affected. Callbacks that block delay others by about a millisecond, or by
 *     up to 14 milliseconds if two become due at almost the same time. This holds while fewer than {@code maxThreads}
 *     callbacks block at a time. Otherwise, with {@code workers(1)}, and in a loop, the other timers wait.
 * <li>A timer never overlaps itself.
 * <li>Actions in a thread before it arms a timer happen-before the run; run <i>k</i> of a ticker happens-before run <i>k +
 *     1</i>; a run happens-before {@code cancelAndAwait} returns.
 * <li>A worker claims timers with equal deadlines in the order in which they were armed. With {@code workers(1)}, all
 *     callbacks run one after the other, unless {@code maxThreads}, an {@code executor} or a loop adds threads.
 * <li>Stopped timers are released within a minute, even if every worker sleeps for hours. In a loop, this holds while
 *     its thread polls it; with a {@code ManualClock}, they are released at the latest when their deadlines pass.
 *     Afterwards, a scheduler without armed timers is not woken. If timers are armed but none is due, one thread wakes
 *     up each second, at a cost that does not depend on their number. For timers of a loop, its thread and the monitor
 *     wake up as well.
 * <li>No timer is lost. If memory is short, a timer stays armed or is rejected. When a scheduler or a loop closes, each of
 *     its timers has run, is rejected, or is counted as unfired.
 * <li>Callbacks of a loop run on its thread only.
 * </ol>
 *
 * <p><b>Accuracy.</b> On an idle Linux machine, half of the timers fire within a tenth of a millisecond of their
 * deadlines (measured at up to 100,000 firings a second). There is no guaranteed upper bound. Deadlines are kept in
 * nanoseconds, up to 18 years ahead (2<sup>59</sup> nanoseconds); a timer with a longer delay never fires.
 *
 * <p><b>Null.</b> Arguments and results are never null unless they are marked {@code @Nullable}. A null argument throws
 * {@link java.lang.NullPointerException}.
 *
 * @since 0.1
 */
@NullMarked
package io.pendula;

import org.jspecify.annotations.NullMarked;
