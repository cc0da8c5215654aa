import java.io.Serializable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import org.hibernate.engine.SessionImplementor;
import org.hibernate.engine.transaction.IsolatedWork;
import org.hibernate.engine.transaction.Isolater;
import org.hibernate.exception.GenericJDBCException;
import org.hibernate.id.IdentifierGenerator;

/** IDs drawn ahead, 1,000 at a time, on a connection outside of the transaction: the proxy answers there. */
public class Snowflakes implements IdentifierGenerator, IsolatedWork {
    private final Deque<Long> drawn = new ArrayDeque<Long>();

    @Override
    public synchronized Serializable generate(SessionImplementor session, Object object) {
        if (drawn.isEmpty()) {
            Isolater.doNonTransactedWork(this, session);
        }
        return drawn.removeFirst();
    }

    @Override
    public void doWork(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            connection.setAutoCommit(true); // JDBC would send BEGIN with the draw, and PostgreSQL would answer both
            ResultSet ids = statement.executeQuery("SELECT * FROM next_snowflakes(1000)");
            while (ids.next()) {
                drawn.addLast(ids.getLong(1));
            }
            connection.setAutoCommit(false); // as it came
        } catch (SQLException problem) {
            throw new GenericJDBCException("no IDs could be drawn", problem);
        }
    }
}
