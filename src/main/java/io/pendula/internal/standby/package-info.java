/**
 * The roles of workers. The poller sleeps for all queues, the guard takes over if the poller is held up, the reserve sleeps
 * until called. A worker is a {@link io.pendula.internal.standby.Sleeper} here.
 * Begin with {@link io.pendula.internal.standby.Standby}.
 */
package io.pendula.internal.standby;
