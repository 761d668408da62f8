package io.pendula.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pendula.Timer;

import java.io.InputStream;
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
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
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
    private static final String PARENT = "parent/pom.xml";
    private static final String LIBRARY = "pom.xml";
    private static final String ADAPTERS = "adapters/pom.xml";
    private static final String BOM = "bom/pom.xml";
    /** What flatten makes of the library's pom before each run of the tests. */
    private static final String PUBLISHED = "target/published-pom.xml";

    private static Document document(String file) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(Path.of(file).toFile());
    }

    private static String value(String file, String path) throws Exception {
        return XPathFactory.newInstance().newXPath().evaluate(path, document(file)).strip();
    }

    private static List<String> values(String file, String path) throws Exception {
        NodeList found = (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document(file),
                XPathConstants.NODESET);
        List<String> values = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            values.add(found.item(i).getTextContent().strip());
        }
        return values;
    }

    private static String changelist() throws Exception {
        return value(PARENT, "/project/properties/changelist");
    }

    private static String version() throws Exception {
        return value(PARENT, "/project/properties/revision") + changelist();
    }

    /** OSGi knows no SNAPSHOT, so it gets the version without. */
    @Test
    void osgiVersion_isThatOfThePom() throws Exception {
        assertEquals("${revision}", value(LIBRARY, "//manifestEntries/Bundle-Version"));
        assertEquals("io.pendula;version=\"${revision}\",io.pendula.spi;version=\"${revision}\"", value(LIBRARY, "//manifestEntries/Export-Package"));
        assertTrue(value(PARENT, "/project/properties/revision").matches("\\d+\\.\\d+\\.\\d+"));
        assertTrue(changelist().isEmpty() || changelist().equals("-SNAPSHOT"), changelist());
    }

    @Test
    void changelog_hasTheVersion() throws Exception {
        String version = value(PARENT, "/project/properties/revision");
        assertTrue(Files.readAllLines(Path.of("CHANGELOG.md")).stream().anyMatch(l -> l.startsWith("## " + version)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"name", "description", "url", "licenses/license/url", "developers/developer/name",
        "scm/connection", "scm/url"})
    void publishedPom_hasWhatCentralAsksFor(String element) throws Exception {
        assertFalse(value(PUBLISHED, "/project/" + element).isEmpty());
    }

    /** Users would have to fetch a parent, and its properties are of no use to them. */
    @Test
    void publishedPom_standsAlone() throws Exception {
        assertEquals(List.of(), values(PUBLISHED, "/project/parent | /project/build | /project/profiles"));
        assertFalse(Files.readString(Path.of(PUBLISHED)).contains("${"));
        assertEquals("io.pendula:pendula:" + version(), value(PUBLISHED, "/project/groupId") + ":"
                + value(PUBLISHED, "/project/artifactId") + ":" + value(PUBLISHED, "/project/version"));
    }

    /** JSpecify's annotations are for compilers: a program runs without them, as every test in a child JVM does. */
    @Test
    void publishedPom_dependsOnNothingAtRunTime() throws Exception {
        String dependency = "/project/dependencies/dependency";
        assertEquals(List.of("jspecify"), values(PUBLISHED, dependency + "/artifactId"));
        assertEquals("provided", value(PUBLISHED, dependency + "/scope"));
        assertEquals("true", value(PUBLISHED, dependency + "/optional"));
    }

    /** All artifacts come from one project: what they share stands in the parent, once. */
    @ParameterizedTest
    @ValueSource(strings = {"groupId", "version", "url", "inceptionYear", "organization", "licenses", "developers", "scm",
        "issueManagement", "properties/project.build.outputTimestamp", "properties/maven.compiler.release",
        "profiles/profile[id='release']", "profiles/profile[id='publish']"})
    void adaptersAndBom_areReleasedAsTheLibraryIs(String element) throws Exception {
        assertEquals(1, values(PARENT, "/project/" + element).size());
        for (String file : List.of(LIBRARY, ADAPTERS, BOM)) {
            assertEquals(List.of(), values(file, "/project/" + element), file);
        }
    }

    @Test
    void bom_hasWhatElseIsPublished() throws Exception {
        String managed = "/project/dependencyManagement/dependencies/dependency";
        assertEquals(List.of("pendula", "pendula-adapters"), values(BOM, managed + "/artifactId"));
        assertEquals(List.of("${project.version}", "${project.version}"), values(BOM, managed + "/version"));
    }

    @Test
    void poms_ofWhatIsPublished_areFlattenedAndInstalledWithSources() throws Exception {
        for (String file : List.of(LIBRARY, ADAPTERS, BOM)) {
            List<String> plugins = values(file, "/project/build/plugins/plugin/artifactId");
            assertTrue(plugins.contains("flatten-maven-plugin"), file);
            assertTrue(plugins.contains("maven-source-plugin") || file.equals(BOM), file);
            assertEquals("false", value(file, "/project/properties/maven.install.skip"), file);
            assertEquals("false", value(file, "/project/properties/maven.deploy.skip"), file);
        }
        assertEquals("jar-no-fork", value(PARENT, "//plugin[artifactId='maven-source-plugin']//goal"));
        assertEquals("true", value(PARENT, "/project/properties/maven.install.skip"));
        assertEquals("true", value(PARENT, "/project/properties/maven.deploy.skip"));
    }

    /** An address that exists nowhere must not get to Central. */
    @Test
    void poms_ofARelease_haveRealAddresses() throws Exception {
        for (String file : List.of(PARENT, LIBRARY, ADAPTERS, BOM)) {
            assertTrue(!Files.readString(Path.of(file)).contains(".invalid") || changelist().equals("-SNAPSHOT"),
                    () -> file + ": a version that is no SNAPSHOT has addresses that end in .invalid");
        }
    }

    /** Who makes the library stands in the manifest and below each page of the Javadoc. */
    @Test
    void poms_namesThatAreShown_areReal() throws Exception {
        for (String element : List.of("organization/name", "developers/developer/id", "developers/developer/name",
                "issueManagement/system")) {
            assertFalse(value(PARENT, "/project/" + element).contains("placeholder"), element);
        }
        assertTrue(value(PARENT, "/project/profiles/profile[id='release']//bottom").contains("{organizationName}"));
    }

    /** A project that is no module of the parent would be built by nobody. */
    @Test
    void version_isTheSameEverywhere() throws Exception {
        Set<String> modules = new TreeSet<>();
        for (String module : values(PARENT, "/project/modules/module")) {
            String pom = Path.of("parent", module, "pom.xml").normalize().toString();
            modules.add(pom);
            assertEquals("pendula-parent:${revision}${changelist}",
                    value(pom, "/project/parent/artifactId") + ":" + value(pom, "/project/parent/version"), pom);
        }
        Set<String> poms = new TreeSet<>(Set.of(LIBRARY));
        try (Stream<Path> folders = Files.list(Path.of(""))) {
            folders.map(f -> f.resolve("pom.xml")).filter(Files::exists).map(Path::toString).forEach(poms::add);
        }
        poms.remove(PARENT);
        assertEquals(poms, modules);
        Map<String, Integer> mentions = new TreeMap<>();
        Set<String> files = new TreeSet<>(Set.of("README.md", "docs/adapters.md"));
        samples("pom.xml").forEach(pom -> files.add(pom.toString()));
        for (String page : files) {
            Matcher m = OWN_VERSION.matcher(Files.readString(Path.of(page)));
            while (m.find()) {
                assertEquals(version(), m.group(1) != null ? m.group(1) : m.group(2), page);
                mentions.merge(page, 1, Integer::sum);
            }
        }
        assertEquals(2, mentions.remove("README.md"));
        assertEquals(files.size() - 1, mentions.size(), mentions::toString);
        assertEquals(Set.of(1), Set.copyOf(mentions.values()), mentions::toString);
    }

    private static List<Path> samples(String suffix) throws Exception {
        try (Stream<Path> files = Files.walk(Path.of("samples"))) {
            return files.filter(f -> f.toString().endsWith(suffix) && !f.toString().contains("target")).sorted().toList();
        }
    }

    /** They are to be read at once, and copied. {@code .ci/install} builds them, and runs their tests. */
    @Test
    void samples_areSmall_andStandAlone() throws Exception {
        List<Path> sources = samples(".java");
        assertTrue(sources.size() >= 4 * 2, sources::toString);
        for (Path file : sources) {
            String text = Files.readString(file);
            assertTrue(text.lines().count() <= 80, file::toString);
            assertFalse(text.contains("io.pendula.internal") || text.contains("io.pendula.spi"), file::toString);
            assertTrue(!file.toString().endsWith("Test.java") || text.contains("ManualClock"), file::toString);
        }
        for (Path pom : samples("pom.xml")) {
            assertFalse(Files.readString(pom).contains("pendula-parent"), pom::toString);
            assertTrue(Files.readAllLines(pom).size() <= 50, pom::toString);
            assertTrue(Files.readAllLines(pom.resolveSibling("README.md")).size() <= 12, pom::toString);
        }
    }

    @Test
    void poms_areShort() throws Exception {
        for (String file : List.of(PARENT, LIBRARY, ADAPTERS)) {
            assertTrue(Files.readAllLines(Path.of(file)).size() <= 500, file);
        }
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
                String type = line.replaceFirst("^.* (io\\.pendula\\.[\\w.$]+).*?( : .*)?$", "$1").replaceAll(" .*", "");
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

    /** The profile that changes byte code says nothing about a name that is gone: it changes, or runs, a little less. */
    @Test
    void pitProfile_namesClassesThatExist() throws Exception {
        String pit = "//profile[id='pit']//configuration/";
        List<String> gone = new ArrayList<>();
        for (String list : List.of("targetClasses", "targetTests")) {
            Path root = Path.of("targetClasses".equals(list) ? "src/main/java" : "src/test/java");
            List<String> names = values(LIBRARY, pit + list + "/param");
            assertTrue(names.size() > 10, list);
            for (String name : names) {
                Path file = root.resolve(name.replace("*", "").replace('.', '/') + ".java");
                if (!Files.exists(file)) {
                    gone.add(name);
                }
            }
        }
        assertEquals(List.of(), gone);
    }
}
