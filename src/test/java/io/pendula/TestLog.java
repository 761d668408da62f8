package io.pendula;

import java.util.ResourceBundle;

/** A logger for tests: all is loggable, and each call comes to the one method that is left. */
abstract class TestLog implements System.Logger {
    @Override
    public String getName() {
        return "test";
    }

    @Override
    public boolean isLoggable(Level level) {
        return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... params) {
        log(level, bundle, format, (Throwable) null);
    }
}
