package io.pendula.adapters.dbscheduler;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.pendula.adapters.Patience;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A PostgreSQL server with a new, empty cluster, on the loopback address, that goes away when it is closed. */
final class PostgresServer implements AutoCloseable {
    /** Debian's place, where the programs are not on the path. */
    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");

    private final Path programs;
    private final Path directory;
    private final List<String> asAnother;
    private final int port;
    private final Thread hook = new Thread(this::end);
    private Process process;

    /** Starts one; where PostgreSQL is not installed, the calling test is skipped. */
    static PostgresServer start() throws Exception {
        Path programs = programs();
        assumeTrue(programs != null, "PostgreSQL's initdb is neither on the PATH nor in " + DEBIAN
                + ": what is about PostgreSQL was NOT tested");
        return new PostgresServer(programs);
    }

    private static Path programs() throws IOException {
        List<Path> places = new ArrayList<>();
        Arrays.stream(System.getenv("PATH").split(File.pathSeparator)).map(Path::of).forEach(places::add);
        if (Files.isDirectory(DEBIAN)) {
            try (Stream<Path> versions = Files.list(DEBIAN)) {
                versions.sorted(Comparator.reverseOrder()).map(version -> version.resolve("bin")).forEach(places::add);
            }
        }
        // Debian puts links to clients on the path, but neither of these.
        return places.stream().filter(place -> Files.isExecutable(place.resolve("initdb"))
                && Files.isExecutable(place.resolve("postgres"))).findFirst().orElse(null);
    }

    private PostgresServer(Path programs) throws Exception {
        this.programs = programs;
        directory = Files.createTempDirectory("pendula-postgres");
        boolean root = "root".equals(System.getProperty("user.name"));
        asAnother = root ? List.of("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups") : List.of();
        if (root) { // as whom PostgreSQL refuses to run
            Files.setOwner(directory,
                    directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
        }
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            Process made = command("initdb", "-D", data(), "-U", "pendula", "-A", "trust", "-E", "UTF8", "--locale=C");
            if (!made.waitFor(Patience.SECONDS, TimeUnit.SECONDS) || made.exitValue() != 0) {
                throw new IOException("initdb failed:\n" + log());
            }
            run();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** Starts the server and waits until it takes connections; after a kill, until it has recovered. */
    void run() throws IOException {
        process = command("postgres", "-D", data(), "-h", "127.0.0.1", "-p", "" + port, "-k", directory.toString());
        Patience.until("PostgreSQL takes connections", this::takesConnections);
    }

    private boolean takesConnections() {
        if (!process.isAlive()) {
            throw new AssertionError("PostgreSQL has ended:\n" + log());
        }
        try {
            DriverManager.getConnection(url("postgres")).close();
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** As kill -9 does: the server has no time to write anything, and its connections break. */
    void kill() throws InterruptedException {
        List<ProcessHandle> all = Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
        all.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle one : all) {
            Patience.until("the server is gone", () -> !one.isAlive());
        }
        process.waitFor();
    }

    String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=pendula";
    }

    private String data() {
        return directory.resolve("data").toString();
    }

    private Process command(String program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(asAnother);
        command.add(programs.resolve(program).toString());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile())).start();
    }

    private String log() {
        try {
            return Files.readString(directory.resolve("log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(hook);
        end();
    }

    private void end() {
        if (process != null) {
            try {
                kill();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        delete(directory.toFile());
    }

    private static void delete(File file) {
        for (File inside : Objects.requireNonNullElse(file.listFiles(), new File[0])) {
            delete(inside);
        }
        if (!file.delete()) {
            file.deleteOnExit();
        }
    }
}
