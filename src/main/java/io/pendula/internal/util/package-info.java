/**
 * Argument checks, texts for people, and threads that inherit nothing. Independent of schedulers.
 * Begin with {@link io.pendula.internal.util.Check}.
 */
package io.pendula.internal.util;
