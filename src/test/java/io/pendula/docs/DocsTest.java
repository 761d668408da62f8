package io.pendula.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pages fit the code: their links lead somewhere, their code is compiled and run, their tests exist. */
@Timeout(60)
class DocsTest {
    @Test
    void links_ofAllPages_leadSomewhere() throws Exception {
        List<String> broken = new ArrayList<>();
        int checked = 0;
        for (Path page : Pages.all()) {
            for (Pages.Link link : Pages.links(page)) {
                Path folder = page.getParent() == null ? Path.of("") : page.getParent();
                Path target = link.target().isEmpty() ? page : folder.resolve(link.target()).normalize();
                if (!Files.exists(target)) {
                    broken.add(page + ": no such file: " + link.target());
                } else if (!link.anchor().isEmpty() && !Pages.anchors(target).contains(link.anchor())) {
                    broken.add(page + ": no such heading: " + link.target() + "#" + link.anchor());
                }
                checked++;
            }
        }
        assertEquals(List.of(), broken);
        assertTrue(checked > 20, "only " + checked + " links were found");
    }

    /** A block is compiled and run since it stands, line by line, in an example or in a test of a page. */
    @Test
    void javaBlocks_ofTheGuide_areQuotedFromCodeThatIsRun() throws Exception {
        List<String> sources = new ArrayList<>();
        for (String folder : List.of("examples", "docs")) {
            try (Stream<Path> files = Files.list(Path.of("src/test/java/io/pendula", folder))) {
                files.filter(f -> f.toString().endsWith(".java")).map(Pages::lines).map(Pages::stripped)
                        .forEach(sources::add);
            }
        }
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        for (Path page : Pages.all()) {
            for (Pages.Block block : Pages.blocks(page)) {
                if (block.language().equals("java")) {
                    checked++;
                    if (sources.stream().noneMatch(s -> s.contains(block.text()))) {
                        unknown.add(block.toString());
                    }
                }
            }
        }
        assertEquals("", String.join("\n\n", unknown));
        assertTrue(checked >= 5, "only " + checked + " blocks were found");
    }
}
