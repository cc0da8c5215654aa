import java.util.Vector;
import org.eclipse.persistence.config.SessionCustomizer;
import org.eclipse.persistence.internal.databaseaccess.Accessor;
import org.eclipse.persistence.internal.sessions.AbstractSession;
import org.eclipse.persistence.queries.DirectReadQuery;
import org.eclipse.persistence.sequencing.Sequence;
import org.eclipse.persistence.sessions.Session;

/** The sequence "snowflake": EclipseLink asks it for 1,000 IDs and keeps what it does not need yet. */
public class Snowflakes extends Sequence implements SessionCustomizer {
    public Snowflakes() {
        super("snowflake", 1000);
    }

    @Override
    public void customize(Session session) {
        session.getLogin().addSequence(new Snowflakes());
    }

    @Override
    public Vector<?> getGeneratedVector(Accessor accessor, AbstractSession session, String name, int size) {
        // Without the accessor, which is the transaction's: the proxy answers outside of it.
        return (Vector<?>) session.executeQuery(new DirectReadQuery("SELECT * FROM next_snowflakes(" + size + ")"));
    }

    @Override
    public Object getGeneratedValue(Accessor accessor, AbstractSession session, String name) {
        return getGeneratedVector(accessor, session, name, 1).get(0);
    }

    @Override
    public boolean shouldAcquireValueAfterInsert() {
        return false;
    }

    @Override
    public boolean shouldUseTransaction() {
        return false;
    }

    @Override
    public void onConnect() {}

    @Override
    public void onDisconnect() {}
}
