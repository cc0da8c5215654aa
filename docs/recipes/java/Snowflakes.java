import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;

/**
 * IDs ahead of the insert, for JDBC. Safe for threads, also for virtual ones.
 *
 * <pre>
 * Snowflakes.Source proxy = Snowflakes.over(dataSource); // autocommit, and not the one of your transactions
 * Snowflakes ids = new Snowflakes(100, Duration.ofSeconds(1));
 * long id = ids.next(proxy);            // mostly from memory
 * long[] more = ids.take(1000, proxy);  // in the order in which they were drawn
 * </pre>
 */
public final class Snowflakes {
    /** Draws n IDs from PostgreSQL or the proxy, neither more nor fewer. */
    @FunctionalInterface
    public interface Source {
        long[] draw(int n) throws SQLException;
    }

    private final int batch;
    private final long maxAge; // ns
    private final ReentrantLock lock = new ReentrantLock();
    private long[] ids = {};
    private int given; // how many of ids
    private long monotonic; // when their draw began, ns
    private long wall; // the same by the wall clock, ms

    /** batch: how many IDs a draw asks for, 1 to 10,000. maxAge: for how long they are good. */
    public Snowflakes(int batch, Duration maxAge) {
        this.batch = batch;
        this.maxAge = maxAge.toNanos();
    }

    public long next(Source source) throws SQLException {
        return take(1, source)[0];
    }

    public long[] take(int n, Source source) throws SQLException {
        long[] taken = new long[n];
        lock.lock();
        try {
            if (tooOld()) {
                given = ids.length;
            }
            for (int done = 0; done < n;) {
                if (given == ids.length) {
                    draw(Math.min(Math.max(n - done, batch), 10_000), source);
                }
                int some = Math.min(n - done, ids.length - given);
                System.arraycopy(ids, given, taken, done, some);
                given += some;
                done += some;
            }
        } finally {
            lock.unlock();
        }
        return taken;
    }

    /** Asks both clocks: the monotonic one may stand still while the machine sleeps. */
    private boolean tooOld() {
        long slept = TimeUnit.MILLISECONDS.toNanos(Math.abs(System.currentTimeMillis() - wall));
        return Math.max(System.nanoTime() - monotonic, slept) >= maxAge;
    }

    private void draw(int n, Source source) throws SQLException {
        long beganMonotonic = System.nanoTime();
        long beganWall = System.currentTimeMillis();
        long[] drawn = source.draw(n);
        if (drawn.length != n) {
            throw new SQLException("the source gave " + drawn.length + " IDs; expected " + n);
        }
        ids = drawn;
        given = 0;
        monotonic = beganMonotonic;
        wall = beganWall;
    }

    /** Draws over a connection of its own for each draw, once more if it fails: the proxy may have restarted. */
    public static Source over(DataSource connections) {
        return n -> {
            try (Connection connection = connections.getConnection()) {
                return draw(connection, n);
            } catch (SQLException lost) {
                try (Connection connection = connections.getConnection()) {
                    return draw(connection, n);
                }
            }
        };
    }

    /** The number is in the text, and the statement is not prepared: the proxy leaves a parameter to PostgreSQL. */
    public static long[] draw(Connection connection, int n) throws SQLException {
        long[] drawn = new long[n];
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM next_snowflakes(" + n + ")")) {
            for (int i = 0; i < n; i++) {
                rows.next(); // where it does not, getLong throws
                drawn[i] = rows.getLong(1);
            }
        }
        return drawn;
    }
}
