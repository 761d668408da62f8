/** Tests of code that uses timers, with JUnit. */
package io.pendula.adapters.junit;
