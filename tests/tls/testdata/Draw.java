import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;

/** Logs in by each URL it is given and the password "right", and says what it did. */
final class Draw {
    public static void main(String[] arguments) throws Exception {
        for (String url : arguments) {
            Set<Long> ids = new HashSet<>();
            String cancelled;
            try (Connection connection = DriverManager.getConnection(url + "&password=right")) {
                draw(connection, ids);
                try (Statement statement = connection.createStatement()) {
                    statement.setQueryTimeout(1);
                    cancelled = state(() -> statement.execute("SELECT pg_sleep(600)"));
                }
            }
            String wrong = state(() -> DriverManager.getConnection(url + "&password=wrong").close());
            long local = ids.stream().filter(id -> id >= 1L << 60).count();
            System.out.println(ids.size() + " IDs, " + local + " of them from memory; a query ended with " + cancelled
                + ", a wrong password with " + wrong);
        }
    }

    private static void draw(Connection connection, Set<Long> ids) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT next_snowflake()")) {
            for (int n = 0; n < 100; n++) {
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    ids.add(rows.getLong(1));
                }
            }
        }
    }

    private interface Attempt {
        void run() throws SQLException;
    }

    private static String state(Attempt attempt) {
        try {
            attempt.run();
            return "none";
        } catch (SQLException refused) {
            return refused.getSQLState();
        }
    }
}
