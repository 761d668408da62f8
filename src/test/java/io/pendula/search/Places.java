package io.pendula.search;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The places in the program at which hooks are called, and the names of fields; by number. */
final class Places {
    private record Place(int field, String operation, boolean writes, String at) {}

    private static final List<Place> PLACES = new ArrayList<>();
    private static final List<String> FIELDS = new ArrayList<>();
    private static final Map<String, Integer> NUMBERS = new HashMap<>();
    /** By number, for hooks. */
    private static volatile Place[] places = {};

    private static final int DEPTH = field("depth");
    private static final int ROUNDS = field("rounds");
    private static final int VISITS = field("visits");

    private Places() {}

    static synchronized int field(String name) {
        return NUMBERS.computeIfAbsent(name, n -> {
            FIELDS.add(n);
            return FIELDS.size() - 1;
        });
    }

    static synchronized String fieldName(int field) {
        return FIELDS.get(field);
    }

    /** Counters that decide nothing in a small program: no access of them is a step, nor a part of the state. */
    static boolean isIgnored(int field) {
        return field == DEPTH || field == ROUNDS || field == VISITS;
    }

    /** {@code field}: -1 if it is known only when the place is reached. */
    static synchronized int add(int field, String operation, boolean writes, String at) {
        PLACES.add(new Place(field, operation, writes, at));
        places = PLACES.toArray(new Place[0]);
        return PLACES.size() - 1;
    }

    static int fieldAt(int place) {
        return places[place].field;
    }

    static boolean writesAt(int place) {
        return places[place].writes;
    }

    static String at(int place) {
        return " in " + places[place].at;
    }

    static String what(int place, String variable) {
        return places[place].operation + " " + variable + at(place);
    }
}
