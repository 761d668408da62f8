package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The last line of a build counts the tests of that build. */
@Timeout(60)
class TestCountTest {
    private static void report(Path file, long millis, String figures) throws IOException {
        Files.writeString(file, "<?xml version=\"1.0\"?>\n<testsuite xmlns:x=\"y\"\n name=\"a\" " + figures
                + ">\n<testcase errors=\"7\"/></testsuite>\n");
        Files.setLastModifiedTime(file, FileTime.fromMillis(millis));
    }

    @Test
    void line_severalReports_hasTheirSums(@TempDir Path reports) throws IOException {
        report(reports.resolve("TEST-a.xml"), 5_000, "tests=\"10\" errors=\"1\" skipped=\"2\" failures=\"3\"");
        report(reports.resolve("TEST-b.xml"), 6_000, "tests=\"5\" errors=\"0\" skipped=\"0\" failures=\"0\"");
        report(reports.resolve("b.xml"), 6_000, "tests=\"100\"");
        assertEquals("Tests run: 15, Failures: 3, Errors: 1, Skipped: 2", TestCount.line(reports, 5_000));
    }

    @Test
    void line_reportsOfAnEarlierBuild_areLeftOut(@TempDir Path reports) throws IOException {
        report(reports.resolve("TEST-a.xml"), 5_000, "tests=\"10\"");
        assertEquals("No test ran.", TestCount.line(reports, 6_000));
        assertEquals("No test ran.", TestCount.line(reports.resolve("none"), 0));
    }
}
