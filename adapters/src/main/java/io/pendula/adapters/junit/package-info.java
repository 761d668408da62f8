/** Support for JUnit tests of code that uses timers. */
package io.pendula.adapters.junit;
