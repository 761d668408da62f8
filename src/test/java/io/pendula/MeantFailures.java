package io.pendula;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Keeps what tests throw on purpose out of the build's output: an exception with the message "meant" that reaches a
 * thread's end, as those of a pool's periodic tasks should.
 */
public final class MeantFailures implements LauncherSessionListener {
    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
            if (!"meant".equals(thrown.getMessage())) {
                System.err.print("Exception in thread \"" + thread.getName() + "\" ");
                thrown.printStackTrace();
            }
        });
    }
}
