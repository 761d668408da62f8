package io.pendula.release;

import io.pendula.Timer;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Waits for one timer; for the image that {@link ModuleTest} makes. */
public final class OneTimer {
    private OneTimer() {}

    /**
     * Prints the module of the timer, once it has fired.
     *
     * @param args none
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws InterruptedException {
        CountDownLatch fired = new CountDownLatch(1);
        Timer.after(Duration.ofMillis(5), fired::countDown);
        if (fired.await(60, TimeUnit.SECONDS)) {
            System.out.println("fired in " + Timer.class.getModule().getName());
        }
    }
}
