import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Prints the line of JSON of each deed, as every program here does. */
final class Report {
    /** A deed. It returns the result and the IDs. */
    interface Deed {
        Outcome act() throws Exception;
    }

    record Outcome(Object result, List<Long> ids) {}

    private static final Set<String> ASKED = Set.of(System.getenv().getOrDefault("CLIENT_DEEDS", "").split(" "));

    private Report() {}

    static void deed(String name, Deed deed) {
        if (!ASKED.contains(name)) {
            return;
        }
        Map<String, Object> line = new TreeMap<>(Map.of("deed", name));
        try {
            Outcome outcome = deed.act();
            line.put("result", outcome.result());
            line.put("ids", outcome.ids().stream().map(String::valueOf).toList());
        } catch (Exception problem) {
            line.put("error", problem.toString());
            line.put("sqlstate", problem instanceof java.sql.SQLException sql ? sql.getSQLState() : "");
        }
        System.out.println(json(line));
    }

    static void none(String name, String why) {
        if (ASKED.contains(name)) {
            System.out.println(json(Map.of("deed", name, "none", why)));
        }
    }

    /** Returns the error that act must throw. */
    static Object refused(Deed act) throws Exception {
        try {
            act.act();
        } catch (java.sql.SQLException problem) {
            String name = problem.getClass().getSimpleName();
            return List.of(name, String.valueOf(problem.getSQLState()), problem.getMessage());
        }
        return "no error";
    }

    private static String json(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof List<?> list) {
            List<String> all = new ArrayList<>();
            list.forEach(each -> all.add(json(each)));
            return "[" + String.join(", ", all) + "]";
        }
        if (value instanceof Map<?, ?> map) {
            List<String> all = new ArrayList<>();
            map.forEach((key, each) -> all.add(json(key) + ": " + json(each)));
            return "{" + String.join(", ", all) + "}";
        }
        StringBuilder text = new StringBuilder("\"");
        for (char c : value.toString().toCharArray()) {
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        return text.append('"').toString();
    }
}
