package io.pendula.benchmarks.peers;

import io.pendula.benchmarks.rivals.Rival;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;

/**
 * Timers of Vert.x by {@code setTimer}, all on one event loop of Netty's NIO. Their delays are whole milliseconds, at
 * least one, and count from the call. An identifier stands for each of them in a map.
 */
final class VertxTimer implements Rival {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1)
            .setFileSystemOptions(new FileSystemOptions().setFileCachingEnabled(false)));

    @Override
    public Object schedule(long delayNanos, Task task) {
        return vertx.setTimer(Math.max(1, (delayNanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI), id -> task.run());
    }

    @Override
    public boolean cancel(Object handle) {
        return vertx.cancelTimer((Long) handle);
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
