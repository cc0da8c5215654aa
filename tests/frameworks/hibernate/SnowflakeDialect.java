import org.hibernate.dialect.PostgreSQLDialect;

/** Makes tables whose IDENTITY is next_snowflake(), where PostgreSQL's own dialect makes a bigserial. */
public class SnowflakeDialect extends PostgreSQLDialect {
    @Override
    public String getIdentityColumnString(int type) {
        return "bigint DEFAULT next_snowflake() NOT NULL";
    }
}
