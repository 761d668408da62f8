/**
 * What all parts of a scheduler share: its clock and settings, its queues, the run of a callback, and what is told of it.
 * {@link io.pendula.internal.engine.Engine} is where to begin.
 */
package io.pendula.internal.engine;
