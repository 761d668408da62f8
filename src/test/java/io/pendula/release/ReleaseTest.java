package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Timer;

import java.io.InputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** What must fit together when a version is released. */
@Timeout(60)
class ReleaseTest {
    private static final Pattern OWN_VERSION = Pattern.compile(
            "<groupId>io\\.pendula</groupId>\\s*<artifactId>[\\w-]+</artifactId>\\s*<version>([^<]+)</version>"
                    + "|\"io\\.pendula:pendula:([^\"]+)\"");
    private static final String LIBRARY = "pom.xml";
    private static final String ADAPTERS = "adapters/pom.xml";

    private static Document document(String file) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(Path.of(file).toFile());
    }

    private static String value(String file, String path) throws Exception {
        return XPathFactory.newInstance().newXPath().evaluate(path, document(file)).strip();
    }

    private static String pom(String path) throws Exception {
        return value(LIBRARY, path);
    }

    /** An element with all that is in it, without the space between. */
    private static String element(String file, String path) throws Exception {
        NodeList found = (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document(file),
                XPathConstants.NODESET);
        assertEquals(1, found.getLength(), () -> file + ": " + path);
        Transformer text = TransformerFactory.newInstance().newTransformer();
        text.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
        StringWriter out = new StringWriter();
        text.transform(new DOMSource(found.item(0)), new StreamResult(out));
        return out.toString().replaceAll("(?s)<!--.*?-->", "").replaceAll(">\\s+<", "><");
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
    void poms_haveWhatCentralAsksFor(String element) throws Exception {
        for (String file : List.of(LIBRARY, ADAPTERS)) {
            assertTrue(!value(file, "/project/" + element).isEmpty(), () -> file + ": " + element);
        }
    }

    /** Both artifacts come from one project and are built by the same plugins. */
    @ParameterizedTest
    @ValueSource(strings = {"groupId", "version", "url", "inceptionYear", "organization", "licenses", "developers", "scm",
        "issueManagement", "properties/project.build.outputTimestamp", "properties/maven.compiler.release",
        "profiles/profile[id='release']", "profiles/profile[id='publish']"})
    void adapters_areReleasedAsTheLibraryIs(String element) throws Exception {
        assertEquals(element(LIBRARY, "/project/" + element), element(ADAPTERS, "/project/" + element));
    }

    /** An address that exists nowhere must not get to Central. */
    @Test
    void poms_ofARelease_haveRealAddresses() throws Exception {
        for (String file : List.of(LIBRARY, ADAPTERS)) {
            assertTrue(!Files.readString(Path.of(file)).contains(".invalid")
                    || value(file, "/project/version").endsWith("-SNAPSHOT"),
                    () -> file + ": a version that is no SNAPSHOT has addresses that end in .invalid");
        }
    }

    /** Who makes the library stands in the manifest and below each page of the Javadoc. */
    @Test
    void poms_namesThatAreShown_areReal() throws Exception {
        for (String file : List.of(LIBRARY, ADAPTERS)) {
            for (String element : List.of("organization/name", "developers/developer/id", "developers/developer/name",
                    "issueManagement/system")) {
                assertFalse(value(file, "/project/" + element).contains("placeholder"), () -> file + ": " + element);
            }
            assertEquals("Copyright {inceptionYear} {organizationName}. Apache License 2.0.",
                    value(file, "/project/profiles/profile[id='release']//bottom"));
        }
    }

    /** A program that has installed the library steps into its sources. */
    @Test
    void poms_eachBuild_makesSourcesJars() throws Exception {
        for (String file : List.of(LIBRARY, ADAPTERS)) {
            assertEquals("jar-no-fork", value(file, "/project/build/plugins/plugin[artifactId='maven-source-plugin']"
                    + "//goal"));
        }
    }

    @Test
    void version_isTheSameEverywhere() throws Exception {
        String version = pom("/project/version");
        for (String file : List.of(ADAPTERS, "benchmarks/pom.xml", "jcstress-tests/pom.xml", "fray-tests/pom.xml",
                ".mvn/all.xml")) {
            assertEquals(version, value(file, "/project/version"), file);
        }
        Map<String, Integer> mentions = new TreeMap<>();
        for (String page : List.of("README.md", "docs/adapters.md")) {
            Matcher m = OWN_VERSION.matcher(Files.readString(Path.of(page)));
            while (m.find()) {
                assertEquals(version, m.group(1) != null ? m.group(1) : m.group(2), page);
                mentions.merge(page, 1, Integer::sum);
            }
        }
        assertEquals(Map.of("README.md", 2, "docs/adapters.md", 1), mentions);
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
                Matcher m = Pattern.compile("@since [^\\n]+\\n[ ]*\\*/\\n[^/]*?(class|interface|enum|record) " + simple + "\\b")
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

    /** The profile that changes byte code says nothing about a name that is gone: it changes, or runs, a little less. */
    @Test
    void pitProfile_namesClassesThatExist() throws Exception {
        String pit = "//profile[id='pit']//configuration/";
        List<String> gone = new ArrayList<>();
        for (String list : List.of("targetClasses", "targetTests")) {
            Path root = Path.of("targetClasses".equals(list) ? "src/main/java" : "src/test/java");
            NodeList params = (NodeList) XPathFactory.newInstance().newXPath().evaluate(pit + list + "/param",
                    document(LIBRARY), XPathConstants.NODESET);
            assertTrue(params.getLength() > 10, list);
            for (int i = 0; i < params.getLength(); i++) {
                String name = params.item(i).getTextContent();
                Path file = root.resolve(name.replace("*", "").replace('.', '/') + ".java");
                if (!Files.exists(file)) {
                    gone.add(name);
                }
            }
        }
        assertEquals(List.of(), gone);
    }
}
