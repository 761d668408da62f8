package sample;

import io.pendula.TimerScheduler;
import java.io.IOException;
import java.time.Duration;

/** Serves on port 8080. A path longer than ten characters takes too long. */
final class Main {
    public static void main(String[] args) throws IOException {
        new DeadlineServer(8080, TimerScheduler.shared(), Duration.ofSeconds(1), path -> {
            Thread.sleep(path.length() * 100L);
            return "hello, " + path + "\n";
        });
    }
}
