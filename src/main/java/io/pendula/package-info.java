/**
 * Timers that are set, reset and stopped often: timeouts, heartbeats, retries, periodic tasks.
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
 * <p>A {@link io.pendula.TimerScheduler} has queues of timers. Each queue belongs to one worker thread, or to a
 * {@link io.pendula.TimerLoop}, which is a loop of the application. A timer is armed on one queue and stays there.
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
 *   cancel and close lead from everywhere to an end without a reset.
 * }</pre>
 *
 * <table>
 * <caption>The types</caption>
 * <tr><th>type</th><th>purpose</th></tr>
 * <tr><td>{@link io.pendula.Timer}, {@link io.pendula.Ticker}</td><td>fires once; fires periodically</td></tr>
 * <tr><td>{@link io.pendula.Alarm}</td><td>what threads wait for, once or periodically</td></tr>
 * <tr><td>{@link io.pendula.Schedule}</td><td>times by the wall clock</td></tr>
 * <tr><td>{@link io.pendula.RunLimit}</td><td>how long a thread may block</td></tr>
 * <tr><td>{@link io.pendula.Timers}</td><td>what schedulers and loops have in common</td></tr>
 * <tr><td>{@link io.pendula.TimerScheduler}</td><td>runs timers, on threads of its own or in loops</td></tr>
 * <tr><td>{@link io.pendula.TimerLoop}</td><td>timers in a thread of the application</td></tr>
 * <tr><td>{@link io.pendula.TimerExecutors}</td><td>executors that replace those of
 *     {@code java.util.concurrent}</td></tr>
 * <tr><td>{@link io.pendula.TimerListener}, {@link io.pendula.TimerStats}</td><td>failures; figures</td></tr>
 * <tr><td>{@link io.pendula.ManualClock}</td><td>time under the control of a test</td></tr>
 * </table>
 *
 * <h2>What is promised</h2>
 * <ol>
 * <li>A timer never fires early, measured on the scheduler's clock, and never inside the call that arms it.
 * <li>For each arming exactly one thing happens: the timer fires, or one call of {@code stop}, {@code cancel} or
 *     {@code reset} returns true, or its scheduler or loop is closed before.
 * <li>These methods may be called by any thread at any time. They do not block, and a race with the firing is never an
 *     error; but a bound, {@code maxPending}, may refuse to reset a timer that has just fired. Only with a
 *     {@code ManualClock}, or while a {@code ThreadFactory} of the program makes a thread that must be there first, a
 *     call that arms may wait.
 * <li>No wake-up is lost: an armed timer runs when it is due, even if all workers were asleep when it was armed.
 * <li>What a callback throws harms no other timer. Callbacks that block delay others by about a millisecond, or by up to
 *     14 if two fall due almost together, as long as fewer of them than {@code maxThreads} block at a time; with
 *     {@code workers(1)} and in a loop the others wait.
 * <li>A timer never overlaps itself.
 * <li>What happens before a timer is armed happens-before its run; run <i>k</i> of a ticker happens-before run
 *     <i>k + 1</i>; a run happens-before {@code cancelAndAwait} returns.
 * <li>Timers of one worker with equal deadlines are taken in the order of arming. After {@code workers(1)} all
 *     callbacks run one after the other, unless {@code maxThreads}, an {@code executor} or a loop adds threads.
 * <li>Stopped timers leave memory within a minute, even if every worker sleeps for hours; those of a loop while its
 *     thread polls it; with a {@code ManualClock} at the latest when their deadlines pass. After that a scheduler with
 *     nothing armed is not woken. With timers armed and none due one thread wakes up each second, at a cost that does
 *     not depend on their number; for those of a loop its thread and the monitor wake up, too.
 * <li>Nothing is lost at the edges. Without memory to grow, a timer stays armed or was rejected. When a scheduler or a
 *     loop closes, each of its timers has run, is rejected, or is counted as unfired.
 * <li>Callbacks of a loop run on its thread and on no other.
 * </ol>
 *
 * <p><b>Accuracy.</b> On a quiet Linux machine half of the timers fire within a tenth of a millisecond after their
 * deadlines, measured at up to 100,000 a second; an upper bound is not promised. Deadlines are kept in nanoseconds, up
 * to 18 years ahead (2<sup>59</sup> nanoseconds); longer delays mean never.
 *
 * <p><b>Null.</b> Arguments and results are never null unless they are marked as {@code @Nullable}. A null argument
 * throws {@link java.lang.NullPointerException}.
 *
 * @since 0.1
 */
@NullMarked
package io.pendula;

import org.jspecify.annotations.NullMarked;
