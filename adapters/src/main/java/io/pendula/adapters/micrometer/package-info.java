/**
 * Figures of schedulers for Micrometer.
 */
package io.pendula.adapters.micrometer;
