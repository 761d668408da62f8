package io.pendula;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Plants each {@link PlantedFault} in a copy of the library, and runs the tests that are said to find it: each must pass
 * without the fault, and fail with it. Then it writes a page that says so; {@code --page} writes that alone. See
 * {@code .ci/planted}.
 */
final class Planted {
    private static final Path FAULTS = Path.of("src/test/planted");
    private static final Path CLASSES = Path.of("target/classes");
    private static final Path SCRATCH = Path.of("target/planted");
    private static final Path TRAPS = Path.of("docs/internals/traps.md");
    private static final Path GUARANTEES = Path.of("docs/guarantees.md");
    private static final Path REPORT = Path.of("target/planted-faults.md");
    /** Longer than any limit of a test. */
    private static final long LIMIT_SECONDS = 180;
    /** All tests one after the other, in the full form: several times what they take on two processors. */
    private static final long LIMIT_OF_ALL_SECONDS = 1800;
    /** A test may find its fault at most runs, but not at each. Each attempt after the first is printed. */
    private static final int ATTEMPTS = 3;
    /** Less than in a build, where a machine that is busy must fail no test: without a fault the tests pass with it, too. */
    private static final long PATIENCE_SECONDS = 10;

    private static final Set<String> OPTIONS = Set.of("--short", "--find", "--page", "--compile");

    private final boolean brief;
    private final boolean find;
    private final boolean page;
    private final boolean compile;
    private final Set<String> wanted;
    private final List<PlantedFault> faults;

    private Planted(List<String> args) throws IOException {
        this.faults = all();
        this.brief = args.contains("--short");
        this.find = args.contains("--find");
        this.page = args.contains("--page");
        this.compile = args.contains("--compile");
        this.wanted = args.stream().filter(a -> !a.startsWith("--")).collect(Collectors.toCollection(TreeSet::new));
        List<String> unknown = args.stream().filter(a -> !OPTIONS.contains(a)
                && faults.stream().noneMatch(f -> a.equals(f.name()) || a.equals(f.group()))).toList();
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("arguments must be of " + OPTIONS + ", or names of faults or of lists, not "
                    + unknown);
        }
    }

    public static void main(String[] args) throws Exception {
        System.exit(new Planted(List.of(args)).go() ? 0 : 1);
    }

    /** The faults of all lists. */
    static List<PlantedFault> all() throws IOException {
        List<PlantedFault> all = new ArrayList<>();
        try (Stream<Path> lists = Files.list(FAULTS)) {
            for (Path list : lists.sorted().toList()) {
                all.addAll(PlantedFault.read(list));
            }
        }
        return all;
    }

    /** The page about them; adds what is wrong with a list. */
    static String page(List<PlantedFault> faults, List<String> wrong) throws IOException {
        return PlantedReport.of(faults, Files.readString(TRAPS), Files.readString(GUARANTEES), wrong);
    }

    private boolean go() throws Exception {
        List<String> wrong = new ArrayList<>();
        checkNames(wrong);
        String report = page(faults, wrong);
        if (wanted.isEmpty() && page) {
            write(report);
            wrong.forEach(System.out::println);
            return wrong.isEmpty();
        }
        List<PlantedFault> chosen = faults.stream()
                .filter(f -> wanted.isEmpty() ? !brief || !f.slow() : wanted.contains(f.name())
                        || wanted.contains(f.group())).toList();
        if (compile) {
            for (PlantedFault f : chosen) {
                compile(f);
            }
            return true;
        }
        if (!find) {
            proveTestsPass(chosen, wrong);
        }
        plantAll(chosen, wrong);
        wrong.forEach(System.out::println);
        if (wrong.isEmpty()) {
            System.out.println(chosen.size() + " faults planted, and each was found");
            if (wanted.isEmpty() && !brief && !find) {
                write(report);
            }
            return true;
        }
        return false;
    }

    private static void write(String report) throws IOException {
        Files.writeString(REPORT, report);
        System.out.println("written: " + REPORT);
    }

    private void checkNames(List<String> wrong) {
        Map<String, Long> count = faults.stream().collect(Collectors.groupingBy(PlantedFault::name, TreeMap::new,
                Collectors.counting()));
        count.forEach((name, n) -> {
            if (n > 1) {
                wrong.add("two faults are called " + name);
            }
        });
        for (String name : wanted) {
            if (faults.stream().noneMatch(f -> f.name().equals(name) || f.group().equals(name))) {
                wrong.add("no fault is called " + name);
            }
        }
    }

    /** A test that fails anyway finds nothing. In the short form the tests try as often as in a build. */
    private void proveTestsPass(List<PlantedFault> chosen, List<String> wrong) throws Exception {
        Set<String> tests = new TreeSet<>();
        chosen.forEach(f -> tests.addAll(f.tests()));
        if (tests.isEmpty()) {
            return;
        }
        List<String> said = run(!brief, List.of(), new ArrayList<>(tests), Path.of("target/planted-none.log"),
                LIMIT_OF_ALL_SECONDS);
        for (String line : said) {
            if (line.startsWith(PlantedRun.FAILED)) {
                String test = line.substring(PlantedRun.FAILED.length());
                wrong.add("fails without a fault: " + test);
                said.stream().filter(reason -> reason.startsWith(test + ": ")).forEach(wrong::add);
            }
        }
        for (String test : tests) {
            if (said.stream().noneMatch(line -> line.startsWith(PlantedRun.PASSED) && isOf(line, test))) {
                wrong.add("does not pass without a fault: " + test);
            }
        }
    }

    private static boolean isOf(String line, String test) {
        String name = line.substring(line.indexOf(": ") + 2);
        return name.equals(test) || name.startsWith(test + "#");
    }

    private void plantAll(List<PlantedFault> chosen, List<String> wrong) throws InterruptedException {
        // Most tests that find a fault wait for what does not come.
        ExecutorService pool = Executors.newFixedThreadPool(2 * Runtime.getRuntime().availableProcessors());
        Map<PlantedFault, Future<String>> results = new LinkedHashMap<>();
        for (PlantedFault f : chosen) {
            Callable<String> task = () -> plant(f);
            results.put(f, pool.submit(task));
        }
        for (Map.Entry<PlantedFault, Future<String>> e : results.entrySet()) {
            try {
                String result = e.getValue().get();
                if (result != null) {
                    wrong.add(e.getKey().name() + ": " + result);
                }
            } catch (ExecutionException failed) {
                wrong.add(e.getKey().name() + ": " + failed.getCause());
            }
        }
        pool.shutdown();
    }

    /** Null if it was found, else what is wrong. */
    private String plant(PlantedFault f) throws Exception {
        long start = System.nanoTime();
        Path classes = compile(f);
        Path folder = classes.getParent();
        List<String> blind = f.tests();
        for (int attempt = 1; attempt <= (find ? 1 : ATTEMPTS); attempt++) {
            Path log = folder.resolve("log" + (attempt == 1 ? "" : "-" + attempt));
            List<String> said = run(true, List.of(classes.toString()), blind, log, LIMIT_SECONDS);
            List<String> failed = said.stream().filter(line -> line.startsWith(PlantedRun.FAILED)).toList();
            boolean ended = said.stream().anyMatch(line -> line.startsWith(PlantedRun.PASSED)) || !failed.isEmpty();
            System.out.printf("%s: %.1f s, %s%n", f.name(), (System.nanoTime() - start) / 1e9, ended
                    ? failed.stream().map(line -> line.substring(PlantedRun.FAILED.length())).toList() : "no end");
            if (!ended) {
                return "the tests do not end: " + blind;
            }
            if (attempt > 1) {
                System.out.println(f.name() + ": attempt " + attempt + " of " + ATTEMPTS + ", for " + blind);
            }
            blind = find && !failed.isEmpty() ? List.of() : blind.stream().filter(t -> !isAmong(failed, t)).toList();
            if (blind.isEmpty()) {
                return null;
            }
        }
        return "gets through " + blind;
    }

    /** The classes that change. */
    private static Path compile(PlantedFault f) throws IOException {
        Path folder = SCRATCH.resolve(f.name());
        delete(folder);
        Map<String, String> sources = new TreeMap<>();
        boolean changesConstant = false;
        for (PlantedFault.Change c : f.changes()) {
            String source = sources.containsKey(c.file()) ? sources.get(c.file())
                    : Files.readString(LibrarySources.file(c.file()));
            sources.put(c.file(), PlantedSource.change(source, c));
            changesConstant |= PlantedSource.isConstant(source, c);
        }
        Path classes = Files.createDirectories(folder.resolve("classes"));
        compile(changesConstant, sources, folder, classes);
        return classes;
    }

    private static boolean isAmong(List<String> failed, String test) {
        return failed.stream().anyMatch(line -> isOf(line, test)
                || line.equals(PlantedRun.FAILED + test.replaceFirst("#.*", "")));
    }

    /** What depends on a changed constant is compiled again, too. */
    private static void compile(boolean all, Map<String, String> sources, Path folder, Path classes)
            throws IOException {
        Path changed = Files.createDirectories(folder.resolve("source/io/pendula"));
        List<String> args = new ArrayList<>(List.of("--release", "17", "-nowarn", "-proc:none", "-implicit:none", "-d",
                classes.toString(), "-cp", CLASSES + File.pathSeparator + System.getProperty("java.class.path")));
        if (all) {
            try (Stream<Path> files = Files.walk(LibrarySources.FOLDER)) {
                files.filter(p -> p.toString().endsWith(".java") && !sources.containsKey(p.getFileName().toString()))
                        .forEach(p -> args.add(p.toString()));
            }
        }
        for (Map.Entry<String, String> e : sources.entrySet()) {
            args.add(Files.writeString(changed.resolve(e.getKey()), e.getValue()).toString());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler.run(null, null, null, args.toArray(new String[0])) != 0) {
            throw new IllegalArgumentException("it does not compile");
        }
    }

    private static List<String> run(boolean full, List<String> before, List<String> tests, Path log, long limit)
            throws Exception {
        List<String> path = new ArrayList<>(before);
        path.add(System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-ea", "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=" + (full && before.isEmpty() ? 4 : 1), "-Xmx512m", "-D" + Scale.PROPERTY + "=" + full,
                "-D" + Fixtures.PATIENCE + "=" + PATIENCE_SECONDS, "-D" + LifeFixtures.PLANTED + "="
                + String.join(File.pathSeparator, before), "-cp", String.join(File.pathSeparator, path),
                PlantedRun.class.getName()));
        command.addAll(tests);
        Files.createDirectories(log.toAbsolutePath().getParent());
        Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        if (!p.waitFor(limit, TimeUnit.SECONDS)) {
            p.destroyForcibly().waitFor();
            System.out.println("not done within " + limit + " s: " + log);
        }
        return Files.readAllLines(log);
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                all.sorted(Comparator.reverseOrder()).forEach(p -> {
                    try {
                        Files.delete(p);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
            }
        }
    }
}
