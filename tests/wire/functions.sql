-- Stand-ins for the functions of the namespace: the same signatures, and IDs of today's size.
CREATE SEQUENCE public.drawn START 300000000000000000;

CREATE FUNCTION public.next_snowflake() RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    RETURN nextval('public.drawn');
END $$;

CREATE FUNCTION public.next_snowflakes(n bigint) RETURNS SETOF bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    FOR i IN 1 .. n LOOP
        RETURN NEXT public.next_snowflake();
    END LOOP;
END $$;
