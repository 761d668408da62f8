/**
 * A scheduler as a whole: it makes the queues, threads and loops, starts and ends them, tells what runs, and looks for
 * callbacks that stall.
 * {@link io.pendula.internal.scheduler.SchedulerEngine} is where to begin.
 */
package io.pendula.internal.scheduler;
