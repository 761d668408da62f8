/**
 * The tasks of a pool, each a timer and a future in one, and the shutdown that waits for the last of them.
 * {@link io.pendula.internal.executor.ScheduledTask} is where to begin.
 */
package io.pendula.internal.executor;
