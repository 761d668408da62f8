/**
 * Events of the JVM's flight recorder about schedulers.
 */
package io.pendula.adapters.jfr;
