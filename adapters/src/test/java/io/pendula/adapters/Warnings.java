package io.pendula.adapters;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Keeps what a class logs until this is closed, and keeps it from being printed: it is meant. */
public final class Warnings extends Handler {
    private final Logger log;
    private final ConcurrentLinkedQueue<LogRecord> records = new ConcurrentLinkedQueue<>();

    public Warnings(Class<?> of) {
        log = Logger.getLogger(of.getName());
        log.setLevel(Level.WARNING); // the tests' settings may have it off
        log.addHandler(this);
        log.setUseParentHandlers(false);
    }

    public List<String> messages() {
        return records.stream().map(LogRecord::getMessage).toList();
    }

    /** The messages of what was thrown, of those that tell it. */
    public List<String> thrown() {
        return records.stream().map(LogRecord::getThrown).filter(e -> e != null).map(Throwable::getMessage).toList();
    }

    @Override
    public void publish(LogRecord record) {
        records.add(record);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        log.removeHandler(this);
        log.setLevel(null);
        log.setUseParentHandlers(true);
    }
}
