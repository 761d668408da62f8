/**
 * Interfaces for adapters to other libraries. Applications do not need them.
 *
 * @since 0.1
 */
@NullMarked
package io.pendula.spi;

import org.jspecify.annotations.NullMarked;
