/**
 * Timers on per-worker heaps.
 *
 * <p>{@link io.pendula.Timer} fires once, {@link io.pendula.Ticker} again and again; a
 * {@link io.pendula.TimerScheduler} runs them, on threads of its own or, through a {@link io.pendula.TimerLoop}, in the
 * application's event loop. {@link io.pendula.TimerExecutors} makes executors that take the place of those of
 * {@code java.util.concurrent}.
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
 * <p><b>What is promised.</b>
 * <ol>
 * <li>A timer never fires early, measured on the monotonic clock, nor inside the call that arms it.
 * <li>For each arming exactly one happens: it fires, or one call of {@code stop}, {@code cancel} or {@code reset}
 *     returned true.
 * <li>These may be called by any thread at any time. They never block, and never fail because of a race.
 * <li>An armed timer runs when it is due, even if all drivers were asleep; no wake-up is lost.
 * <li>A callback harms nobody else: neither by what it throws, nor by how long it takes.
 * <li>A timer never overlaps itself.
 * <li>What happens before a timer is armed happens-before its run; run k of a ticker happens-before run k + 1; a run
 *     happens-before {@code stopAndAwait} and {@code await} return.
 * <li>Timers of one worker with equal deadlines run in the order of arming; after {@code workers(1)} the whole
 *     scheduler is sequential.
 * <li>Stopped timers are cheap: they leave memory within a minute, even if every driver sleeps for hours. A
 *     scheduler with nothing armed is not woken; with timers armed and none due there is one look at them a second,
 *     whose cost does not depend on their number.
 * <li>Nothing is lost at the edges: without memory to grow, a timer stays armed or was rejected; when the scheduler
 *     closes, each timer has run, is rejected, or is reported as unfired; so when a loop closes, but the timers of a
 *     {@linkplain io.pendula.TimerScheduler#attachShared shared} loop go on elsewhere.
 * <li>Callbacks of a loop run on its thread and on no other, unless it is a shared one.
 * </ol>
 *
 * <p><b>Accuracy.</b> On a quiet Linux machine a timer fires some ten microseconds after its deadline. Deadlines are
 * kept in nanoseconds, up to 18 years ahead; longer delays mean never.
 */
package io.pendula;
