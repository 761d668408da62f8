/**
 * Pendula in the place of Netty's {@link io.netty.util.HashedWheelTimer}, and timers on Netty's event loops.
 */
package io.pendula.adapters.netty;
