package io.pendula.demonstrations;

/** A callback of the demo, with a field for what a contender gives in return for it. */
interface Shot extends Runnable {
    Object handle();

    void handle(Object handle);
}
