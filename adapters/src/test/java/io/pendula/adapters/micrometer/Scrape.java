package io.pendula.adapters.micrometer;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a Prometheus server gets: samples by name and labels. */
record Scrape(String text, Map<String, Double> samples) {
    static Scrape of(PrometheusMeterRegistry registry) {
        String text = registry.scrape();
        Map<String, Double> samples = new TreeMap<>();
        for (String line : text.split("\n")) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                int blank = line.lastIndexOf(' ');
                samples.put(line.substring(0, blank), Double.valueOf(line.substring(blank + 1)));
            }
        }
        return new Scrape(text, samples);
    }

    double value(String sample) {
        Double value = samples.get(sample);
        assertNotNull(value, () -> sample + " is not in\n" + text);
        return value;
    }

    /** Without labels. */
    Set<String> names() {
        return samples.keySet().stream().map(s -> s.replaceAll("\\{.*", "")).collect(Collectors.toSet());
    }
}
