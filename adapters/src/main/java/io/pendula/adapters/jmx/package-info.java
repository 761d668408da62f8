/**
 * Figures of schedulers for JMX.
 */
package io.pendula.adapters.jmx;
