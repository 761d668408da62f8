/**
 * Code that several adapters share. Not for users: it may change at any time.
 */
package io.pendula.adapters.internal;
