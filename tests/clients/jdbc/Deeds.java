import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.StringReader;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.copy.CopyManager;

/** PostgreSQL's JDBC driver. CLIENT_MODE is added to the URL's parameters. */
final class Deeds {
    private static final String URL =
        "jdbc:postgresql://" + env("PGHOST") + ":" + env("PGPORT") + "/" + env("PGDATABASE") + "?" + mode();

    private static String env(String name) {
        return System.getenv(name);
    }

    private static String mode() {
        String mode = env("CLIENT_MODE");
        return mode == null ? "" : mode;
    }

    /** The superuser has an empty password. In a database without tables the user has a real one. */
    private static String password() {
        return bare() ? env("PGPASSWORD") : "";
    }

    private static boolean bare() {
        return env("CLIENT_BARE") != null;
    }

    private static Connection connect() throws SQLException {
        return connect(env("PGUSER"), password(), "sslmode", "disable");
    }

    private static Connection connect(String user, String password, String... more) throws SQLException {
        Properties settings = new Properties();
        settings.setProperty("user", user);
        settings.setProperty("password", password);
        for (int n = 0; n < more.length; n += 2) {
            settings.setProperty(more[n], more[n + 1]);
        }
        return DriverManager.getConnection(URL, settings);
    }

    private static long draw(Connection connection) throws SQLException {
        return number(connection, "SELECT next_snowflake()");
    }

    private static long number(Connection connection, String sql, long... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int n = 0; n < parameters.length; n++) {
                statement.setLong(n + 1, parameters[n]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }

    private static Report.Outcome login(String role, String... more) throws Exception {
        String user;
        try (Connection connection = connect(role, "right", more); Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT current_user")) {
            rows.next();
            user = rows.getString(1);
        }
        Object wrong = Report.refused(() -> {
            connect(role, "wrong", more).close();
            return null;
        });
        return new Report.Outcome(List.of(user, wrong), List.of());
    }

    private static Report.Outcome unprepared() throws SQLException {
        try (Connection connection = connect(); Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT next_snowflake()")) {
            ResultSetMetaData column = rows.getMetaData();
            rows.next();
            Object id = rows.getObject(1);
            List<Object> result = List.of(column.getColumnName(1), column.getColumnTypeName(1),
                column.getColumnClassName(1), column.getColumnDisplaySize(1), column.isNullable(1),
                id.getClass().getName(), rows.next());
            return new Report.Outcome(result, List.of((Long) id));
        }
    }

    private static Report.Outcome prepared() throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement("SELECT next_snowflake() AS id")) {
            while (ids.size() < 20) {
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    ids.add(rows.getLong("id"));
                }
            }
            if (bare()) {
                return new Report.Outcome(null, ids);
            }
            long names = number(connection, "SELECT count(*) FROM pg_prepared_statements");
            return new Report.Outcome(List.of(names), ids);
        }
    }

    // snippet: begin
    /** The IDs for all rows in one round trip, the rows in another. */
    private static List<Long> orderWithLines(Connection connection, List<String> lines) throws SQLException {
        List<Long> ids = new ArrayList<>();
        String sql = "SELECT next_snowflake() FROM generate_series(1, " + lines.size() + ")";
        try (Statement draw = connection.createStatement(); ResultSet drawn = draw.executeQuery(sql)) {
            while (drawn.next()) {
                ids.add(drawn.getLong(1));
            }
        }
        // Only now: BEGIN travels with the statement after it, which is then PostgreSQL's to answer.
        connection.setAutoCommit(false);
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO item (id, name) VALUES (?, ?)")) {
            for (int n = 0; n < lines.size(); n++) {
                insert.setLong(1, ids.get(n));
                insert.setString(2, lines.get(n));
                insert.addBatch();
            }
            insert.executeBatch();
        }
        connection.commit();
        return ids;
    }
    // snippet: end

    private static Report.Outcome transaction() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            List<Long> ids = new ArrayList<>(orderWithLines(connection, List.of("one", "two")));
            long first = draw(connection);
            int inserted = statement.executeUpdate("INSERT INTO item (id, name) VALUES (" + first + ", 'gone')");
            long seen = number(connection, "SELECT count(*) FROM item WHERE id = ?", first);
            connection.rollback();
            long left = number(connection, "SELECT count(*) FROM item WHERE id = ?", first);
            long kept = number(connection, "SELECT count(*) FROM item WHERE id IN (?, ?)", ids.get(0), ids.get(1));
            Object zero = Report.refused(() -> new Report.Outcome(number(connection, "SELECT 1/0"), List.of()));
            Object failed = Report.refused(() -> new Report.Outcome(draw(connection), List.of()));
            connection.rollback();
            ids.addAll(List.of(first, draw(connection)));
            connection.rollback();
            return new Report.Outcome(List.of(inserted, seen, left, kept, zero, failed), ids);
        }
    }

    private static Report.Outcome commit() throws Exception {
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            List<Long> ids = new ArrayList<>(List.of(draw(connection)));
            connection.commit();
            ids.add(draw(connection));
            connection.rollback();
            ids.add(draw(connection));
            Report.refused(() -> new Report.Outcome(number(connection, "SELECT 1/0"), List.of()));
            Object failed = Report.refused(() -> new Report.Outcome(draw(connection), List.of()));
            connection.rollback();
            ids.add(draw(connection));
            connection.rollback();
            return new Report.Outcome(failed, ids);
        }
    }

    private static Report.Outcome pool() throws Exception {
        HikariConfig settings = new HikariConfig();
        settings.setJdbcUrl(URL);
        settings.setUsername(env("PGUSER"));
        settings.setPassword(password());
        settings.addDataSourceProperty("sslmode", "disable");
        settings.setMaximumPoolSize(2);
        try (HikariDataSource connections = new HikariDataSource(settings)) {
            return together(25, n -> {
                List<Long> ids = new ArrayList<>();
                while (ids.size() < n) {
                    try (Connection connection = connections.getConnection()) {
                        ids.add(draw(connection));
                    }
                }
                return ids;
            });
        }
    }

    private static Report.Outcome copy() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE item");
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            long in = copies.copyIn("COPY item (name) FROM STDIN", new StringReader("one\ntwo\n"));
            StringWriter out = new StringWriter();
            copies.copyOut("COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT", out);
            List<Long> ids = new ArrayList<>();
            List<String> names = new ArrayList<>();
            for (String line : out.toString().split("\n")) {
                String[] fields = line.split("\t");
                ids.add(Long.valueOf(fields[0]));
                names.add(fields[1]);
            }
            ids.add(draw(connection));
            return new Report.Outcome(List.of(in, names), ids);
        }
    }

    private static Report.Outcome listen() throws SQLException {
        try (Connection listener = connect(); Connection sender = connect();
                Statement statement = listener.createStatement()) {
            statement.execute("LISTEN news");
            long id = draw(listener);
            try (Statement other = sender.createStatement()) {
                other.execute("NOTIFY news, 'hello'");
            }
            PGNotification[] heard = listener.unwrap(PGConnection.class).getNotifications(0); // 0: waits for one
            List<String> news = Arrays.stream(heard).map(each -> each.getName() + " " + each.getParameter()).toList();
            return new Report.Outcome(news, List.of(id));
        }
    }

    private static Report.Outcome cancel() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (Connection sleeper = connect(); Connection other = connect();
                Statement statement = sleeper.createStatement()) {
            Future<Object> said = threads.submit(() -> Report.refused(() -> {
                statement.execute("SELECT pg_sleep(60)");
                return null;
            }));
            String asleep = """
                SELECT count(*) FROM pg_stat_activity
                WHERE wait_event = 'PgSleep' AND datname = current_database()""";
            while (number(other, asleep) == 0) {
                Thread.onSpinWait();
            }
            statement.cancel();
            return new Report.Outcome(said.get(), List.of(draw(sleeper)));
        } finally {
            threads.shutdown();
        }
    }

    private static Report.Outcome byDefault() throws SQLException {
        String sql = "INSERT INTO item (name) VALUES (?)";
        try (Connection connection = connect();
                PreparedStatement insert = connection.prepareStatement(sql, new String[] {"id"})) {
            insert.setString(1, "new");
            int rows = insert.executeUpdate();
            try (ResultSet keys = insert.getGeneratedKeys()) {
                keys.next();
                String type = keys.getMetaData().getColumnTypeName(1);
                return new Report.Outcome(List.of(rows, type), List.of(keys.getLong("id")));
            }
        }
    }

    private static Report.Outcome parallel() throws Exception {
        return together(1000, n -> {
            List<Long> ids = new ArrayList<>();
            try (Connection connection = connect()) {
                while (ids.size() < n) {
                    ids.add(draw(connection));
                }
            }
            return ids;
        });
    }

    /** Draws the IDs of one thread. */
    private interface Drawing {
        List<Long> draw(int n) throws Exception;
    }

    private static Report.Outcome together(int each, Drawing drawing) throws Exception {
        Callable<List<Long>> one = () -> drawing.draw(each);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Long> all = new ArrayList<>();
        for (Future<List<Long>> drawn : threads.invokeAll(List.of(one, one, one, one))) {
            all.addAll(drawn.get());
        }
        threads.shutdown();
        return new Report.Outcome(null, all);
    }

    public static void main(String[] arguments) {
        if (arguments.length > 0) {
            System.out.println(org.postgresql.util.DriverInfo.DRIVER_VERSION);
            return;
        }
        Report.deed("password", () -> login("client_password", "sslmode", "disable"));
        Report.deed("scram", () -> login(env("CLIENT_ROLE"), "sslmode", "disable"));
        Report.deed("tls", () -> login(env("CLIENT_ROLE"), "sslmode", "verify-full", "sslrootcert", env("CLIENT_CA")));
        Report.deed("unprepared", Deeds::unprepared);
        Report.deed("prepared", Deeds::prepared);
        Report.none("pipeline", "JDBC batches only statements without rows");
        Report.none("mixed", "JDBC batches only statements without rows");
        Report.deed("transaction", Deeds::transaction);
        Report.deed("commit", Deeds::commit);
        Report.deed("copy", Deeds::copy);
        Report.deed("notify", Deeds::listen);
        Report.deed("cancel", Deeds::cancel);
        Report.deed("default", Deeds::byDefault);
        Report.deed("pool", Deeds::pool);
        Report.deed("parallel", Deeds::parallel);
    }
}
