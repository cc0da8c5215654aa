-- For each source of keys, a table of orders and one of their lines. Inserts into one table use only the orders.
DO $$
DECLARE
    source text;
    key text;
BEGIN
    CREATE SEQUENCE ids;
    FOR source, key IN VALUES ('sequence', 'DEFAULT nextval(''ids'')'), ('snowflake', 'DEFAULT next_snowflake()'),
        ('ahead', '')
    LOOP
        EXECUTE format('CREATE TABLE order_%s (id bigint %s PRIMARY KEY, name text NOT NULL)', source, key);
        EXECUTE format('CREATE TABLE line_%s (id bigint %s PRIMARY KEY, order_id bigint NOT NULL, name text NOT NULL)',
            source, key);
    END LOOP;
END
$$;
