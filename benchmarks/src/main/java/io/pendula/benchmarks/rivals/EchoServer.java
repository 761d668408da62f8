package io.pendula.benchmarks.rivals;

/** Sends back whatever arrives on connections to the local host, on one thread, which also runs timers. */
public interface EchoServer {
    int port();

    /** Runs something on the server's thread, soon. */
    void execute(Runnable task);

    /** Called on the server's thread; the task runs there. */
    void schedule(long delayNanos, Rival.Task task);
}
