/**
 * The tasks of an executor, each a timer and a future in one object, and the shutdown that waits for the last task.
 * Begin with {@link io.pendula.internal.executor.ScheduledTask}.
 */
package io.pendula.internal.executor;
