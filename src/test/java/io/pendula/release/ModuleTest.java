package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.pendula.Timer;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The library as a module: what it exports and needs, and that it runs on java.base alone. */
@Timeout(180)
class ModuleTest {
    private static Path location(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static ModuleDescriptor module() throws Exception {
        return ModuleFinder.of(location(Timer.class)).find("io.pendula").orElseThrow().descriptor();
    }

    @Test
    void exports_areTheApiOnly() throws Exception {
        assertEquals(Set.of("io.pendula", "io.pendula.spi"), module().exports().stream().map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet()));
        assertTrue(module().opens().isEmpty() && !module().isOpen());
    }

    @Test
    void requires_atRunTime_areJavaBaseOnly() throws Exception {
        assertEquals(Set.of("java.base"), module().requires().stream()
                .filter(r -> !r.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC))
                .map(ModuleDescriptor.Requires::name).collect(Collectors.toSet()));
    }

    @Test
    @Tag("not-emulated") // the image has a program for AArch64 in the place of java
    void image_ofJavaBaseAndPendula_runsATimer(@TempDir Path dir) throws Exception {
        Path image = dir.resolve("image");
        StringWriter said = new StringWriter();
        int status = ToolProvider.findFirst("jlink").orElseThrow().run(new PrintWriter(said), new PrintWriter(said),
                "--module-path", location(Timer.class).toString(), "--add-modules", "io.pendula",
                "--strip-java-debug-attributes", "--no-header-files", "--no-man-pages", "--output", image.toString());
        assertEquals(0, status, said::toString);

        Path out = dir.resolve("out.txt");
        Process p = new ProcessBuilder(image.resolve("bin").resolve("java").toString(), "--add-modules", "io.pendula",
                "-cp", location(OneTimer.class).toString(), OneTimer.class.getName())
                .redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try {
            assertTrue(p.waitFor(120, TimeUnit.SECONDS), "the image's JVM did not end");
            String ran = Files.readString(out, StandardCharsets.UTF_8).strip();
            // A JDK of .ci/jdk has its own C library, which its launcher names. The image's launcher takes the machine's.
            assumeFalse(ran.matches("(?s).*libc\\.so.*version `GLIBC_[0-9.]+' not found.*"), ran);
            assertEquals("fired in io.pendula", ran);
        } finally {
            p.destroyForcibly();
        }
    }
}
