package io.pendula.benchmarks.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.benchmarks.harness.Case;
import io.pendula.benchmarks.harness.Child;
import io.pendula.benchmarks.harness.Launch;
import io.pendula.benchmarks.harness.Results;
import io.pendula.benchmarks.harness.Subject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order of measurements, and that a run goes on where it was interrupted. */
class ReportTest {
    private static final Launch.Jvm JVM = new Launch.Jvm("25", Path.of("java"));

    private final List<String> launched = new ArrayList<>();
    private int limit = Integer.MAX_VALUE;

    /** Notes what is launched; interrupted after so many. */
    private final Case noting = new Case() {
        @Override
        public String name() {
            return "noting";
        }

        @Override
        public List<Map<String, String>> cells() {
            return Case.product("workers=1,16");
        }

        @Override
        public List<String> ratios() {
            return List.of("cpu_ns");
        }

        @Override
        public List<Launch.Part> measure(Launch launch) throws IOException, InterruptedException, Launch.Skipped {
            if (launched.size() == limit) {
                throw new InterruptedException();
            }
            String what = launch.subject().label() + " " + launch.cell().get("workers");
            launched.add(what);
            if (launch.subject().label().equals("FJP")) {
                throw new Launch.Skipped("not here");
            }
            if (launch.subject().label().equals("HWT")) {
                throw new IOException("broken");
            }
            Map<String, String> part = new LinkedHashMap<>(launch.cell());
            part.put("rate", "100");
            return List.of(new Launch.Part(part, Map.of("cpu_ns", 5.0)));
        }

        @Override
        public void run(Child child) {
            throw new AssertionError();
        }
    };

    private int measure(Path file, int rounds, String... subjects) throws Exception {
        Plan plan = Plan.of(new Plan.Step(noting, noting.cells(), Subject.all(subjects), Map.of(), 1));
        Measuring measuring = new Measuring(plan, List.of(JVM), rounds, file, Results.read(file));
        return measuring.run();
    }

    private static Path empty(Path folder) throws IOException {
        Path file = folder.resolve("report.csv");
        Results.create(file, Map.of());
        return file;
    }

    @Test
    void run_rounds_beginWithAnotherSubjectEachTime(@TempDir Path folder) throws Exception {
        measure(empty(folder), 2, "PENDULA", "STPE");
        assertEquals(List.of("PENDULA 1", "STPE 1", "PENDULA 16", "STPE 16", "STPE 1", "PENDULA 1", "STPE 16",
                "PENDULA 16"), launched);
    }

    @Test
    void run_afterInterruption_measuresTheRestOnly(@TempDir Path folder) throws Exception {
        Path file = empty(folder);
        limit = 3;
        boolean interrupted = false;
        try {
            measure(file, 2, "PENDULA", "STPE");
        } catch (InterruptedException e) {
            interrupted = true;
        }
        assertTrue(interrupted);
        limit = Integer.MAX_VALUE;
        launched.clear();
        measure(file, 2, "PENDULA", "STPE");
        assertEquals(List.of("STPE 16", "STPE 1", "PENDULA 1", "STPE 16", "PENDULA 16"), launched);
        assertEquals(8, Results.read(file).figures().size());
        launched.clear();
        measure(file, 2, "PENDULA", "STPE");
        assertEquals(List.of(), launched);
    }

    @Test
    void run_subjectNotToBeHad_isTriedOnce(@TempDir Path folder) throws Exception {
        Path file = empty(folder);
        assertEquals(0, measure(file, 3, "FJP"));
        assertEquals(List.of("FJP 1"), launched);
        assertTrue(Results.read(file).figures().stream().allMatch(f -> f.figure().equals("skipped")));
    }

    @Test
    void run_failure_isCountedAndTriedAgainNextTime(@TempDir Path folder) throws Exception {
        Path file = empty(folder);
        assertEquals(2, measure(file, 1, "HWT"));
        assertFalse(launched.isEmpty());
        launched.clear();
        measure(file, 1, "HWT");
        assertEquals(List.of("HWT 1", "HWT 16"), launched);
    }
}
