package io.pendula.search;

/** What is searched: builds the same world again for each execution. */
@FunctionalInterface
public interface Program {
    /**
     * Makes the objects and adds the threads. What it does itself is no part of the search.
     *
     * @param execution to which it adds threads
     * @return what must hold
     */
    World begin(Execution execution);

    /** What must hold in one execution. */
    interface World {
        /**
         * No thread can go on before {@code then}, if ever.
         *
         * @param heldUntil until when the system has held up a thread that could go on; 0 if it has not
         * @param then the next one at which a thread goes on; Long.MAX_VALUE if there is none
         * @return what is wrong, or null
         */
        String atRest(long heldUntil, long then);

        /**
         * Says which calls a user could make now; of numbers below 39.
         *
         * @return a bit for each
         */
        long calls();

        /**
         * Makes one, on a user's thread.
         *
         * @param call its number
         */
        void call(int call);

        /**
         * Names one.
         *
         * @param call its number
         * @return for people
         */
        String nameOf(int call);

        /**
         * What the world itself knows of this execution.
         *
         * @return a number that is the same for the same contents
         */
        long state();

        /**
         * What a lock guards, as a number that is the same for the same contents. Called by its owner.
         *
         * @param lock a lock, or an object whose monitor it is
         * @return the number; 0 if the way there counts
         */
        default long guardedBy(Object lock) {
            return 0;
        }

        /**
         * What a thread of the library keeps in plain fields, when it is at the beginning of its loop.
         *
         * @param runner the object that has the loop
         * @return a number that is the same for the same contents; 0 if the way there counts
         */
        default long keptBy(Object runner) {
            return 0;
        }
    }
}
