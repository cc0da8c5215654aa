import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;

/** What JDBC and Jackson make of an ID, in a column and in a document: see node/ids_in_json_report.js. */
final class IdsInJson {
    private static final String URL = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT")
        + "/" + System.getenv("PGDATABASE") + "?user=" + System.getenv("PGUSER");

    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        try (Connection connection = DriverManager.getConnection(URL)) {
            Object id = first(connection, "SELECT id FROM author");
            JsonNode document = json.readTree(first(connection, "SELECT to_jsonb(author) FROM author").toString());
            Map<String, Object> line = new TreeMap<>();
            line.put("driver", "JDBC, Jackson");
            line.put("version", connection.getMetaData().getDriverVersion());
            line.put("bigint", seen(id));
            line.put("row", json.writeValueAsString(Map.of("id", id)));
            line.put("document", seen(document.get("id").numberValue()));
            System.out.println(json.writeValueAsString(line));
        }
    }

    private static Object first(Connection connection, String query) throws SQLException {
        try (ResultSet rows = connection.createStatement().executeQuery(query)) {
            rows.next();
            return rows.getObject(1);
        }
    }

    private static Map<String, String> seen(Object value) {
        return Map.of("type", value.getClass().getSimpleName(), "text", value.toString());
    }
}
