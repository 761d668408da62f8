/**
 * The parts of a scheduler that all others use: clock, settings, queues, the run of a callback, and its reports.
 * Begin with {@link io.pendula.internal.engine.Engine}.
 */
package io.pendula.internal.engine;
