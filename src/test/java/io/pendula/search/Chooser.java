package io.pendula.search;

/** Says which thread goes on. */
interface Chooser {
    /** This execution need not go on. */
    int STOP = -1;

    /**
     * Chooses the next step.
     *
     * @param enabled the steps that are possible, one bit for each
     * @param current the thread that has made the last step, or null
     * @return the number of one of the bits, or STOP
     */
    int choose(Execution execution, long enabled, ModelThread current);
}
