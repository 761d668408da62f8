/**
 * Who sleeps, who guards, who is called. Of a worker it knows what {@link io.pendula.internal.standby.Sleeper} tells.
 * {@link io.pendula.internal.standby.Standby} is where to begin.
 */
package io.pendula.internal.standby;
