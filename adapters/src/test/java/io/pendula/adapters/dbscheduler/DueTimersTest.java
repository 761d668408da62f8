package io.pendula.adapters.dbscheduler;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** On H2. */
class DueTimersTest extends DueTimersCase {
    @TempDir
    private Path directory;

    @Override
    String database(String name, boolean inFiles) {
        return inFiles ? "jdbc:h2:file:" + directory.resolve(name) + ";WRITE_DELAY=0"
                : "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1";
    }
}
