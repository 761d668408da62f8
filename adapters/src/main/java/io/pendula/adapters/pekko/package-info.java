/**
 * Pendula as the scheduler of Apache Pekko's actor systems.
 */
package io.pendula.adapters.pekko;
