package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.TimerScheduler;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** The library as a bundle in an OSGi framework, with the headers that the build gives its jar. */
class OsgiTest {
    @TempDir
    private Path dir;

    private Framework framework;

    @BeforeEach
    void start() throws Exception {
        framework = ServiceLoader.load(FrameworkFactory.class).findFirst().orElseThrow().newFramework(Map.of(
                Constants.FRAMEWORK_STORAGE, dir.resolve("cache").toString(), "felix.service.urlhandlers", "false"));
        framework.start();
    }

    @AfterEach
    void stop() throws Exception {
        framework.stop();
        framework.waitForStop(60_000);
    }

    /** The headers that the library's pom gives its jar, with properties put in. */
    private static Map<String, String> headers() throws Exception {
        XPath xpath = XPathFactory.newInstance().newXPath();
        Document pom = pom("../pom.xml");
        String revision = xpath.evaluate("/project/properties/revision", pom("../parent/pom.xml"));
        NodeList entries = (NodeList) xpath.evaluate("//plugin[artifactId='maven-jar-plugin']//manifestEntries/*", pom,
                XPathConstants.NODESET);
        Map<String, String> headers = new TreeMap<>();
        for (int i = 0; i < entries.getLength(); i++) {
            headers.put(entries.item(i).getNodeName(), entries.item(i).getTextContent()
                    .replace("${revision}", revision)
                    .replace("${project.name}", xpath.evaluate("/project/name", pom))
                    .replace("${project.description}", xpath.evaluate("/project/description", pom)));
        }
        return headers;
    }

    private static Document pom(String file) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(Path.of(file).toFile());
    }

    /** A jar with these headers, and with all that is in a folder. */
    private Path jar(String name, Map<String, String> headers, Path content) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        headers.forEach(manifest.getMainAttributes()::putValue);
        Path jar = dir.resolve(name + ".jar");
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out, manifest);
                Stream<Path> files = Files.walk(content)) {
            for (Path f : files.filter(Files::isRegularFile).toList()) {
                entries.putNextEntry(new ZipEntry(content.relativize(f).toString().replace('\\', '/')));
                Files.copy(f, entries);
                entries.closeEntry();
            }
        }
        return jar;
    }

    private Bundle install(Path jar) throws BundleException {
        return framework.getBundleContext().installBundle(jar.toUri().toString());
    }

    /** A folder of classes with {@code mvn test}, the jar with {@code mvn verify}. */
    private Bundle library() throws Exception {
        Path classes = Path.of(TimerScheduler.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Bundle bundle = install(Files.isDirectory(classes) ? jar("library", headers(), classes) : classes);
        bundle.start();
        return bundle;
    }

    private Bundle userOf(String packages) throws Exception {
        Path nothing = Files.createDirectories(dir.resolve("nothing"));
        Map<String, String> headers = Map.of("Bundle-ManifestVersion", "2", "Bundle-SymbolicName", "user",
                "Import-Package", packages);
        return install(jar("user", headers, nothing));
    }

    @Test
    void bundle_started_runsATimer() throws Exception {
        Bundle library = library();
        assertEquals(Bundle.ACTIVE, library.getState());
        Class<?> type = library.loadClass("io.pendula.TimerScheduler");
        assertNotSame(TimerScheduler.class, type);
        Object builder = type.getMethod("builder").invoke(null);
        CountDownLatch fired = new CountDownLatch(1);
        try (AutoCloseable scheduler = (AutoCloseable) builder.getClass().getMethod("build").invoke(builder)) {
            type.getMethod("after", Duration.class, Runnable.class).invoke(scheduler, Duration.ofMillis(1),
                    (Runnable) fired::countDown);
            assertTrue(fired.await(60, TimeUnit.SECONDS));
        }
    }

    @Test
    void api_importedByAnotherBundle_isThatOfTheLibrary() throws Exception {
        Bundle library = library();
        Bundle user = userOf("io.pendula;version=\"[" + library.getVersion() + ",1)\"");
        user.start();
        assertSame(library.loadClass("io.pendula.Timer"), user.loadClass("io.pendula.Timer"));
    }

    @Test
    void inside_importedByAnotherBundle_isRefused() throws Exception {
        library();
        Bundle user = userOf("io.pendula.internal.queue");
        assertThrows(BundleException.class, user::start);
    }

    @Test
    void library_importsNothing() throws Exception {
        assertNull(library().getHeaders().get("Import-Package"));
    }
}
