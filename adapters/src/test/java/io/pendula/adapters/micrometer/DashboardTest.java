package io.pendula.adapters.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import java.io.File;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The dashboard asks for each sample that there is, if only by a pattern, and for none that there is not. */
class DashboardTest {
    private static final Pattern SAMPLE = Pattern.compile("\\b(?:executor|pendula)_[a-z_]+");
    private static final Pattern BY_PATTERN = Pattern.compile("__name__=~\"([^\"]+)\"");

    /** Read as JSON, strictly. */
    private final Config dashboard = ConfigFactory.parseFile(new File("grafana-dashboard.json"),
            ConfigParseOptions.defaults().setSyntax(ConfigSyntax.JSON).setAllowMissing(false));

    private List<? extends Config> charts() {
        return dashboard.getConfigList("panels").stream().filter(panel -> !panel.getString("type").equals("row")).toList();
    }

    @Test
    void expressions_nameExactlyTheBindersSamples() {
        Set<String> asked = new TreeSet<>();
        Set<String> existing = existing();
        for (Config panel : charts()) {
            for (Config target : panel.getConfigList("targets")) {
                String expression = target.getString("expr");
                Matcher m = SAMPLE.matcher(expression);
                Matcher p = BY_PATTERN.matcher(expression);
                boolean found = p.find();
                if (found) {
                    existing.stream().filter(Pattern.compile(p.group(1)).asMatchPredicate()).forEach(asked::add);
                }
                while (m.find()) {
                    asked.add(m.group());
                    found = true;
                }
                assertTrue(found, expression);
                assertTrue(expression.contains("name=~\"$name\""), expression);
            }
        }
        assertEquals(new TreeSet<>(existing), asked);
    }

    private static Set<String> existing() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (TimerScheduler timers = TimerScheduler.builder().clock(new ManualClock()).build();
                PendulaMetrics metrics = new PendulaMetrics(timers)) {
            metrics.bindTo(registry);
            return Scrape.of(registry).names();
        }
    }

    @Test
    void panels_haveIdsAndTitlesOfTheirOwn_aPlaceAndAUnit() {
        Set<Integer> ids = new HashSet<>();
        Set<String> titles = new HashSet<>();
        for (Config panel : charts()) {
            assertTrue(ids.add(panel.getInt("id")), panel::toString);
            assertTrue(titles.add(panel.getString("title")), panel::toString);
            assertTrue(panel.getInt("gridPos.w") + panel.getInt("gridPos.x") <= 24, panel::toString);
            assertTrue(panel.hasPath("fieldConfig.defaults.unit"), panel::toString);
            assertEquals("${datasource}", panel.getString("datasource.uid"));
        }
        Set<String> variables = new HashSet<>();
        dashboard.getConfigList("templating.list").forEach(variable -> variables.add(variable.getString("name")));
        assertEquals(Set.of("datasource", "name"), variables);
    }
}
