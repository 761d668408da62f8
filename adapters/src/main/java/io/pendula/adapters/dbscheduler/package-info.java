/**
 * Makes db-scheduler run its executions when they are due, instead of at its next poll. Executions are rows of a table,
 * so they outlive the process.
 */
package io.pendula.adapters.dbscheduler;
