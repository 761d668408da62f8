/** Runs the timers of SOFA-JRaft on Pendula. */
package io.pendula.adapters.jraft;
