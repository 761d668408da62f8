/**
 * The scheduler's own threads. They run what is due in its queues, and sleep as their roles say.
 * {@link io.pendula.internal.workers.Worker} is where to begin.
 */
package io.pendula.internal.workers;
