/**
 * The scheduler's own threads. They run due timers of its queues and sleep as their roles require.
 * Begin with {@link io.pendula.internal.workers.Worker}.
 */
package io.pendula.internal.workers;
