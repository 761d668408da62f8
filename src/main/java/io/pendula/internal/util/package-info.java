/**
 * Checks of arguments, texts for people, threads that take nothing over from their makers. Knows no scheduler.
 * {@link io.pendula.internal.util.Check} is where to begin.
 */
package io.pendula.internal.util;
