/**
 * A scheduler as a whole: creates the queues, threads and loops, starts and ends them, lists running callbacks, and detects
 * those that stall. Begin with {@link io.pendula.internal.scheduler.SchedulerEngine}.
 */
package io.pendula.internal.scheduler;
