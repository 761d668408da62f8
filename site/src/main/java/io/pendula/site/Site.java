package io.pendula.site;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.HeadingAnchorExtension;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;

/**
 * Makes a folder of HTML pages: README.md, and each page and file of the repository that a page links to, under their own
 * paths; and the library's Javadoc. Throws if a link inside the folder leads nowhere.
 */
public final class Site {
    private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create(), HeadingAnchorExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();
    private static final HtmlRenderer RENDERER = HtmlRenderer.builder().extensions(EXTENSIONS).build();
    private static final Path START = Path.of("README.md");

    private final Path root;
    private final Path out;
    /** The repository's address; empty while there is none. */
    private final String repository;
    private final Map<Path, Document> pages = new LinkedHashMap<>();

    private Site(Path root, Path out, String repository) {
        this.root = root;
        this.out = out;
        this.repository = repository.contains(".invalid") ? "" : repository;
    }

    /**
     * Makes the site.
     *
     * @param args the repository's folder, the site's folder, the repository's address
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] args) throws IOException {
        Site site = new Site(Path.of(args[0]), Path.of(args[1]), args[2]);
        site.read(START);
        site.write();
        copy(site.root.resolve("target/reports/apidocs"), site.out.resolve("javadoc"));
        site.check();
    }

    private void read(Path page) throws IOException {
        if (pages.containsKey(page)) {
            return;
        }
        String text = Files.readString(root.resolve(page));
        if (page.toString().endsWith(".txt")) {
            text = "# " + page.getFileName() + "\n```\n" + text + "```\n";
        }
        Document html = Jsoup.parse(RENDERER.render(PARSER.parse(text)));
        html.outputSettings().prettyPrint(false);
        pages.put(page, html);
        html.select("table").wrap("<div class=scroll tabindex=0></div>");
        for (Element link : html.select("a[href], img[src]")) {
            String attribute = link.hasAttr("src") ? "src" : "href";
            String address = link.attr(attribute);
            Path target = page.resolveSibling(address.replaceFirst("#.*", "")).normalize();
            if (address.matches("\\w+:.*|#.*") || !Files.exists(root.resolve(target))) {
                continue; // check() finds what is dead
            }
            if (Files.isDirectory(root.resolve(target))) {
                link.attr(attribute, repository + "/tree/HEAD/" + target);
                if (repository.isEmpty()) {
                    link.unwrap();
                }
            } else if (target.toString().matches(".*\\.(md|txt)")) {
                link.attr(attribute, html(address));
                read(target);
            } else {
                copy(root.resolve(target), out.resolve(target));
            }
        }
    }

    private static String html(String address) {
        return address.replaceFirst("README\\.md(#|$)", "index.html$1").replaceFirst("\\.(md|txt)(#|$)", ".html$2");
    }

    private void write() throws IOException {
        for (Map.Entry<Path, Document> page : pages.entrySet()) {
            String path = html(page.getKey().toString());
            String up = "../".repeat(page.getKey().getNameCount() - 1);
            Element body = page.getValue().body();
            String title = body.selectFirst("h1").text();
            Path file = out.resolve(path);
            Files.createDirectories(file.getParent());
            Files.writeString(file, resource("page.html")
                    .replace("${title}", page.getKey().equals(START) ? title : title + " - Pendula")
                    .replace("${source}", repository.isEmpty() ? "" : "<a href=\"" + repository + "\">Source</a>")
                    .replace("${up}", up)
                    .replace("${pages}", navigation(path, up))
                    .replace("${text}", body.html()));
        }
        Files.writeString(out.resolve("style.css"), resource("style.css"));
    }

    /** The pages that the README lists, in its order. */
    private String navigation(String path, String up) {
        StringBuilder html = new StringBuilder();
        for (Element group : pages.get(START).select("#documentation + ul > li")) {
            html.append("<ul>\n");
            for (Element link : group.select("a:not([href*=#])")) {
                String address = link.attr("href");
                html.append("<li><a href=\"").append(up).append(address)
                        .append(address.equals(path) ? "\" aria-current=\"page\">" : "\">").append(link.html()).append("</a>\n");
            }
            html.append("</ul>\n");
        }
        return html.toString();
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = Site.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** A file, or a folder with all that is in it. */
    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = to.resolve(from.relativize(file).toString()).normalize();
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static boolean leads(Path from, URI link, Map<Path, Document> site) {
        Path target = link.getPath().isEmpty() ? from : from.resolveSibling(link.getPath()).normalize();
        Document page = site.get(target);
        String anchor = link.getFragment();
        return Files.isRegularFile(target)
                && (page == null || anchor == null || anchor.isEmpty() || page.getElementById(anchor) != null);
    }

    private void check() throws IOException {
        Map<Path, Document> site = new TreeMap<>();
        try (Stream<Path> files = Files.walk(out)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".html")).toList()) {
                site.put(file, Jsoup.parse(Files.readString(file)));
            }
        }
        List<String> dead = new ArrayList<>();
        site.forEach((file, html) -> html.select("[href], [src]").forEach(element -> {
            String address = element.attr(element.hasAttr("src") ? "src" : "href");
            URI uri = URI.create(address);
            if (!(uri.isAbsolute() ? element.is("a") : leads(file, uri, site))) {
                dead.add(out.relativize(file) + ": " + address);
            }
        }));
        if (!dead.isEmpty()) {
            throw new IllegalStateException("links that lead nowhere, or pictures and styles of other hosts:\n"
                    + String.join("\n", dead));
        }
        System.out.println(site.size() + " pages: " + out.resolve("index.html"));
    }
}
