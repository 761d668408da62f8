package io.pendula.benchmarks.harness;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The settings of a cell as one text: {@code inFlight=1000 pending=0}. */
public final class CellText {
    private CellText() {}

    public static Map<String, String> parse(String text) {
        Map<String, String> settings = new LinkedHashMap<>();
        Arrays.stream(text.trim().split(" +")).filter(pair -> !pair.isEmpty()).forEach(pair -> {
            String[] keyAndValue = pair.split("=", 2);
            if (keyAndValue.length < 2) {
                throw new IllegalArgumentException("setting must be key=value, but is '" + pair + "'");
            }
            settings.put(keyAndValue[0], keyAndValue[1]);
        });
        return settings;
    }

    public static String text(Map<String, String> settings) {
        return settings.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining(" "));
    }

    /** The settings that are not the same in all cells. */
    public static Set<String> varying(Collection<String> cells) {
        List<Map<String, String>> parsed = cells.stream().map(CellText::parse).toList();
        Set<String> keys = new LinkedHashSet<>();
        parsed.forEach(cell -> keys.addAll(cell.keySet()));
        keys.removeIf(key -> parsed.stream().map(cell -> cell.getOrDefault(key, "")).distinct().count() < 2);
        return keys;
    }

    /** Whether the cell has each of these values, where it has such a setting; "a|b" allows both. */
    public static boolean allow(Map<String, String> only, Map<String, String> cell) {
        return only.entrySet().stream().allMatch(e -> !cell.containsKey(e.getKey())
                || Arrays.asList(e.getValue().split("\\|")).contains(cell.get(e.getKey())));
    }
}
