/**
 * The roles of workers: the poller sleeps for all queues, the guard looks after the poller, the reserve waits for a call. A
 * worker is known here as a {@link io.pendula.internal.standby.Sleeper}.
 * {@link io.pendula.internal.standby.Standby} is where to begin.
 */
package io.pendula.internal.standby;
