/**
 * Interfaces for adapters of other libraries. Programs do not need them.
 *
 * @since 0.1
 */
@NullMarked
package io.pendula.spi;

import org.jspecify.annotations.NullMarked;
