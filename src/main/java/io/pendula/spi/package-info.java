/**
 * What adapters of other libraries implement. Programs do not need it.
 *
 * @since 0.1
 */
@NullMarked
package io.pendula.spi;

import org.jspecify.annotations.NullMarked;
