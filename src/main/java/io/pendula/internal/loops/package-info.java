/**
 * Application threads that run their own queues, each when it polls.
 * Begin with {@link io.pendula.internal.loops.LoopWorker}.
 */
package io.pendula.internal.loops;
