/** A replacement for Netty's {@link io.netty.util.HashedWheelTimer}, and timers on Netty's event loops. */
package io.pendula.adapters.netty;
