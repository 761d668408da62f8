package io.pendula.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the Markdown pages of the repository: their links, headings and code blocks. */
final class Pages {
    private static final Pattern LINK = Pattern.compile("!?\\[[^\\]]*]\\(([^)\\s]+)\\)");
    private static final Pattern FENCE = Pattern.compile("^\\s*```(\\w*)\\s*$");

    /** A link of a page; {@code anchor} is empty if the link has none, {@code target} if it stays on its page. */
    record Link(Path page, String target, String anchor) {}

    /** A code block of a page, with the number of its first line. */
    record Block(Path page, int line, String language, List<String> lines) {
        String text() {
            return stripped(lines);
        }

        @Override
        public String toString() {
            return page + ":" + line + "\n" + String.join("\n", lines);
        }
    }

    private Pages() {}

    /** Every Markdown page that is part of the repository, build results left out. */
    static List<Path> all() throws IOException {
        List<Path> pages = new ArrayList<>();
        for (String folder : List.of(".", "docs", "docs/internals", "benchmarks", "jcstress-tests", "fray-tests", "adapters",
                "samples", "samples/http-deadlines", "samples/connection-pool", "samples/spring-boot", "samples/nio-server")) {
            Path dir = Path.of(folder);
            if (Files.isDirectory(dir)) {
                try (Stream<Path> files = Files.list(dir)) {
                    files.filter(f -> f.toString().endsWith(".md")).map(Path::normalize).sorted().forEach(pages::add);
                }
            }
        }
        return pages;
    }

    static List<String> lines(Path page) {
        try {
            return Files.readAllLines(page);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The links to other parts of the repository, not those to the Web. */
    static List<Link> links(Path page) {
        List<Link> links = new ArrayList<>();
        for (String line : prose(page)) {
            Matcher m = LINK.matcher(line);
            while (m.find()) {
                String whole = m.group(1);
                if (!whole.contains("://") && !whole.startsWith("mailto:")) {
                    int hash = whole.indexOf('#');
                    links.add(new Link(page, hash < 0 ? whole : whole.substring(0, hash),
                            hash < 0 ? "" : whole.substring(hash + 1)));
                }
            }
        }
        return links;
    }

    /** The anchors that a code host makes of the page's headings. */
    static Set<String> anchors(Path page) {
        Set<String> anchors = new TreeSet<>();
        for (String line : prose(page)) {
            if (line.matches("#{1,6} .*")) {
                String slug = line.replaceFirst("^#+ ", "").strip().toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
                String unique = slug;
                for (int i = 1; !anchors.add(unique); i++) {
                    unique = slug + "-" + i;
                }
            }
        }
        return anchors;
    }

    static List<Block> blocks(Path page) {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = lines(page);
        for (int i = 0; i < lines.size(); i++) {
            Matcher m = FENCE.matcher(lines.get(i));
            if (m.matches()) {
                int begin = i + 1;
                for (i = begin; i < lines.size() && !FENCE.matcher(lines.get(i)).matches(); i++) {
                    // to the end of the block
                }
                blocks.add(new Block(page, begin + 1, m.group(1), lines.subList(begin, i)));
            }
        }
        return blocks;
    }

    /** The page without its code blocks. */
    static List<String> prose(Path page) {
        List<String> prose = new ArrayList<>();
        boolean code = false;
        for (String line : lines(page)) {
            if (FENCE.matcher(line).matches()) {
                code = !code;
            } else if (!code) {
                prose.add(line);
            }
        }
        return prose;
    }

    /** Lines without their indentation, and without spaces in a row, since comments are aligned in either text. */
    static String stripped(List<String> lines) {
        return lines.stream().map(l -> l.strip().replaceAll(" +", " ")).collect(Collectors.joining("\n", "\n", "\n"));
    }
}
