/**
 * Threads of the application that run queues of their own, each when it polls.
 * {@link io.pendula.internal.loops.LoopWorker} is where to begin.
 */
package io.pendula.internal.loops;
