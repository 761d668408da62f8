/**
 * Pendula in front of db-scheduler, whose timers are rows of a table: they outlive the process, and run when they are due
 * instead of at the next poll.
 */
package io.pendula.adapters.dbscheduler;
