package io.pendula;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Where the library's classes are, in whichever package. Their simple names are unique. */
public final class LibrarySources {
    static final Path FOLDER = Path.of("src/main/java/io/pendula");

    private LibrarySources() {}

    /** As Worker.java. */
    static Path file(String name) {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            List<Path> found = files.filter(f -> f.endsWith(name)).toList();
            if (found.size() != 1) {
                throw new IllegalArgumentException("there must be one " + name + " in the library, but these are: " + found);
            }
            return found.get(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As in class files: io/pendula/... */
    public static String internalName(String simpleName) {
        String file = FOLDER.getParent().getParent().relativize(file(simpleName + ".java")).toString().replace('\\', '/');
        return file.substring(0, file.length() - ".java".length());
    }
}
