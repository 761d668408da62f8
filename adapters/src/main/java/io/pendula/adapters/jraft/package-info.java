/**
 * Pendula as the timers of SOFA-JRaft.
 */
package io.pendula.adapters.jraft;
