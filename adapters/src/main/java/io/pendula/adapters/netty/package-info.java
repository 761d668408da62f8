/**
 * Pendula in the place of Netty's {@link io.netty.util.HashedWheelTimer}.
 */
package io.pendula.adapters.netty;
