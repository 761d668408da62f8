/**
 * Checks of arguments, texts for people, threads for one step. Knows no scheduler.
 * {@link io.pendula.internal.util.Check} is where to begin.
 */
package io.pendula.internal.util;
