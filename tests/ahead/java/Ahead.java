import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.hibernate.HibernateException;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.jdbc.ReturningWork;

/** The recipe for JDBC, and the one for Hibernate. In place of Hibernate's session there is just a connection. */
final class Ahead {
    private static final Snowflakes IDS = new Snowflakes(100, Duration.ofSeconds(1));

    private static String url(String port) {
        return url(port, System.getenv("PGDATABASE"));
    }

    private static String url(String port, String database) {
        return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + port + "/" + database
            + "?sslmode=disable&user=" + System.getenv("PGUSER");
    }

    private static HikariDataSource connections(String database) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url(System.getenv("PGPORT"), database));
        config.setMaximumPoolSize(1);
        return new HikariDataSource(config);
    }

    /** A session as Hibernate's generator needs it: it only lends its connection. */
    private record Session(Connection connection) implements SharedSessionContractImplementor {
        @Override
        public <T> T doReturningWork(ReturningWork<T> work) {
            try {
                return work.execute(connection);
            } catch (SQLException e) {
                throw new HibernateException("the work failed", e);
            }
        }
    }

    private static List<Long> oneByOne(Snowflakes ids, int n, Snowflakes.Source proxy) throws SQLException {
        List<Long> drawn = new ArrayList<>();
        while (drawn.size() < n) {
            drawn.add(ids.next(proxy));
        }
        return drawn;
    }

    /** Runs a task in each of four threads, and returns the IDs that they draw. */
    private static List<Long> parallel(Callable<List<Long>> task) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Long> all = new ArrayList<>();
            for (Future<List<Long>> drawn : threads.invokeAll(List.of(task, task, task, task))) {
                all.addAll(drawn.get());
            }
            return all;
        } finally {
            threads.shutdown();
        }
    }

    // snippet: begin
    private static List<Long> insert(Connection connection, Snowflakes.Source proxy, List<String> names)
            throws SQLException {
        long[] keys = IDS.take(names.size(), proxy);
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO item (id, name) VALUES (?, ?)")) {
            for (int n = 0; n < keys.length; n++) {
                insert.setLong(1, keys[n]);
                insert.setString(2, names.get(n));
                insert.addBatch();
            }
            insert.executeBatch();
        }
        return LongStream.of(keys).boxed().toList();
    }
    // snippet: end

    /** Four sessions, each with a connection, share one generator, as those of one entity do. */
    private static List<Long> hibernate() throws Exception {
        SnowflakeGenerator generator = new SnowflakeGenerator();
        return parallel(() -> {
            List<Long> drawn = new ArrayList<>();
            try (Connection connection = DriverManager.getConnection(url(System.getenv("PGPORT")))) {
                while (drawn.size() < 10_000) {
                    drawn.add((Long) generator.generate(new Session(connection), new Object()));
                }
            }
            return drawn;
        });
    }

    private static List<Long> parameter() throws SQLException {
        List<Long> drawn = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url(System.getenv("PGPORT")));
                PreparedStatement draw = connection.prepareStatement("SELECT * FROM next_snowflakes(?)")) {
            draw.setLong(1, 3);
            try (ResultSet rows = draw.executeQuery()) {
                while (rows.next()) {
                    drawn.add(rows.getLong(1));
                }
            }
        }
        return drawn;
    }

    /** The user's own source may give nothing. Then the recipe must not ask for ever. */
    private static void refusesShortDraws() {
        try {
            new Snowflakes(100, Duration.ofSeconds(1)).take(1, n -> new long[0]);
        } catch (SQLException e) {
            return;
        }
        throw new IllegalStateException("a draw of no IDs was taken");
    }

    private static void deed(String name, Callable<List<Long>> run) throws Exception {
        System.in.read();
        String rest;
        try {
            rest = "\"ids\": " + run.call().stream().map(id -> '"' + id.toString() + '"')
                .collect(Collectors.joining(",", "[", "]"));
        } catch (SQLException e) {
            rest = "\"error\": \"" + e.getMessage().replaceAll("[^ -~]|[\"\\\\]", " ") + '"';
        }
        System.out.println("{\"deed\": \"" + name + "\", " + rest + "}");
    }

    public static void main(String[] arguments) throws Exception {
        try (HikariDataSource connections = connections(System.getenv("PGDATABASE"))) {
            Snowflakes.Source proxy = Snowflakes.over(connections);
            deed("parallel", () -> parallel(() -> oneByOne(IDS, 10_000, proxy)));
            deed("restarted", () -> oneByOne(IDS, 250, proxy));
            deed("fresh", () -> oneByOne(new Snowflakes(100, Duration.ZERO), 5, proxy));
            deed("bulk", () -> LongStream.of(IDS.take(25_000, proxy)).boxed().toList());
            deed("broken", () -> {
                refusesShortDraws();
                return oneByOne(new Snowflakes(100, Duration.ofSeconds(1)), 1, n -> {
                    try (Connection away = DriverManager.getConnection(url(System.getenv("AWAY_PORT")))) {
                        return Snowflakes.draw(away, n);
                    }
                });
            });
            deed("ids", () -> {
                try (HikariDataSource others = connections(System.getenv("ID_DATABASE"))) {
                    Snowflakes ids = new Snowflakes(100, Duration.ofSeconds(1));
                    return oneByOne(ids, 1_000, Snowflakes.over(others));
                }
            });
            deed("parameter", Ahead::parameter);
            deed("inserted", () -> {
                try (Connection connection = DriverManager.getConnection(url(System.getenv("PGPORT")))) {
                    return insert(connection, proxy, List.of("lamp", "shade"));
                }
            });
            deed("hibernate", Ahead::hibernate);
        }
    }
}
