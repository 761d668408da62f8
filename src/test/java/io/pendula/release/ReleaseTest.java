package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Timer;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathFactory;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;

/** What must fit together when a version is released. */
@Timeout(60)
class ReleaseTest {
    private static Document pom;

    @BeforeAll
    static void readPom() throws Exception {
        pom = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(Path.of("pom.xml").toFile());
    }

    private static String pom(String path) throws Exception {
        XPath xpath = XPathFactory.newInstance().newXPath();
        return xpath.evaluate(path, pom).strip();
    }

    @Test
    void osgiVersion_isThatOfThePom() throws Exception {
        assertEquals(pom("/project/version").replace("-SNAPSHOT", ""), pom("/project/properties/osgi.version"));
    }

    @Test
    void changelog_hasTheVersion() throws Exception {
        String version = pom("/project/properties/osgi.version");
        assertTrue(Files.readAllLines(Path.of("CHANGELOG.md")).stream().anyMatch(l -> l.startsWith("## " + version)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"name", "description", "url", "licenses/license/url", "developers/developer/name",
        "scm/connection", "scm/url"})
    void pom_hasWhatCentralAsksFor(String element) throws Exception {
        assertTrue(!pom("/project/" + element).isEmpty(), element);
    }

    /** A placeholder must not get to Central: the day that one goes, all must have gone. */
    @Test
    void pom_placeholders_areAllThereOrAllGone() throws Exception {
        String text = Files.readString(Path.of("pom.xml"));
        assertEquals(text.contains("pendula.invalid"), text.contains("(placeholder)"));
        assertTrue(!text.contains("pendula.invalid") || pom("/project/version").endsWith("-SNAPSHOT"),
                "a version that is no SNAPSHOT has placeholders in its pom");
    }

    @Test
    void licence_isAmongTheClasses() throws Exception {
        try (InputStream in = Timer.class.getResourceAsStream("/META-INF/LICENSE")) {
            assertNotNull(in);
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(Files.readString(Path.of("LICENSE")), text);
        }
    }

    /** All types that a program can name say since when. */
    @Test
    void publicTypes_sayTheirVersion() throws Exception {
        Set<String> missing = new TreeSet<>();
        for (String line : ApiSignature.lines()) {
            if (!line.startsWith(" ")) {
                String type = line.replaceFirst("^.* (io\\.pendula\\.[\\w$]+).*?( : .*)?$", "$1").replaceAll(" .*", "");
                Path file = Path.of("src/main/java", type.replaceAll("\\$.*", "").replace('.', '/') + ".java");
                String simple = type.replaceAll(".*[.$]", "");
                Matcher m = Pattern.compile("@since [^\\n]+\\n[ ]*\\*/\\n[^/]*?(class|interface|enum) " + simple + "\\b")
                        .matcher(Files.readString(file));
                if (!m.find()) {
                    missing.add(type);
                }
            }
        }
        assertEquals(Set.of(), missing);
    }

    /** JSpecify's annotations are for compilers: a program runs without them, as every test in a child JVM does. */
    @Test
    void jspecify_isNotPassedOn() throws Exception {
        assertEquals("provided", pom("/project/dependencies/dependency[artifactId='jspecify']/scope"));
        assertEquals("true", pom("/project/dependencies/dependency[artifactId='jspecify']/optional"));
    }
}
