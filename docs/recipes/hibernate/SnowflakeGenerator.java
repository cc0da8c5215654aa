import static java.lang.annotation.ElementType.FIELD;
import static java.lang.annotation.ElementType.METHOD;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

import java.lang.annotation.Retention;
import java.lang.annotation.Target;
import java.sql.SQLException;
import java.time.Duration;
import org.hibernate.HibernateException;
import org.hibernate.annotations.IdGeneratorType;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.id.IdentifierGenerator;

/**
 * Keys for Hibernate 6.2 and newer, a hundred ahead, so that it batches inserts. It needs Snowflakes.java, and in an
 * entity:
 *
 * <pre>
 * &#64;Id &#64;SnowflakeGenerator.Snowflake
 * private Long id;
 * </pre>
 *
 * <p>A draw goes over the connection of the session that needs one, in its transaction if it has begun.
 */
public class SnowflakeGenerator implements IdentifierGenerator {
    private static final long serialVersionUID = 1;

    /** Marks a key that this class makes. */
    @IdGeneratorType(SnowflakeGenerator.class)
    @Retention(RUNTIME)
    @Target({FIELD, METHOD})
    public @interface Snowflake {
    }

    private final transient Snowflakes ids = new Snowflakes(100, Duration.ofSeconds(1));

    @Override
    public Object generate(SharedSessionContractImplementor session, Object entity) {
        try {
            return ids.next(n -> session.doReturningWork(connection -> Snowflakes.draw(connection, n)));
        } catch (SQLException e) {
            throw new HibernateException("no ID could be drawn by next_snowflakes()", e);
        }
    }
}
