"""psycopg 3."""

import threading

import psycopg
import psycopg_pool
from psycopg import pq

import report


def connect(**more):
    return psycopg.connect(**{"autocommit": True, **more})  # everything else comes from PGHOST and its like


def login(role, **more):
    def deed():
        with connect(user=role, password=report.PASSWORD, **more) as connection:
            user = connection.execute("SELECT current_user").fetchone()[0]
        wrong = report.refused(connect, user=role, password="wrong", **more)
        return {"result": {"user": user, "wrong password": wrong}}

    return deed


def tls():
    import os

    return login(report.SCRAM_ROLE, sslmode="verify-full", sslrootcert=os.environ["CLIENT_CA"])()


def unprepared():
    with connect() as connection:
        cursor = connection.execute("SELECT next_snowflake()", prepare=False)
        row = cursor.fetchone()
        column = cursor.description[0]
        return {
            "result": [column.name, column.type_code, cursor.statusmessage, type(row[0]).__name__],
            "ids": [str(row[0])],
        }


def prepared():
    with connect() as connection:
        ids, tags = [], set()
        for binary in (False, True):
            for _ in range(10):
                cursor = connection.execute("SELECT next_snowflake() AS id", prepare=True, binary=binary)
                tags.add(cursor.statusmessage)
                ids.append(str(cursor.fetchone()[0]))
        names = None
        if not report.BARE:
            names = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()[0]
        return {"result": [sorted(tags), names], "ids": ids}


# snippet: begin
def draw_all(connection, n):
    """One round trip for all the IDs. Unless told not to, psycopg prepares the statement halfway through, and what
    follows in the pipeline then goes to PostgreSQL."""
    with connection.pipeline():
        drawn = [connection.execute("SELECT next_snowflake()", prepare=False) for _ in range(n)]
    return [cursor.fetchone()[0] for cursor in drawn]


def order_with_lines(connection, lines):
    """Another for the rows that use them."""
    ids = draw_all(connection, len(lines))
    connection.cursor().executemany("INSERT INTO item (id, name) VALUES (%s, %s)", list(zip(ids, lines)))
    return ids
# snippet: end


def pipeline():
    with connect() as connection:
        if report.BARE:
            return {"ids": [str(id) for id in draw_all(connection, 50)]}
        ids = order_with_lines(connection, [f"line {n}" for n in range(50)])
        names = connection.execute("SELECT array_agg(name ORDER BY id) FROM item").fetchone()[0]
        return {"result": names, "ids": [str(id) for id in ids]}


def mixed():
    echo = "SELECT set_config('client.n', %s, true)"
    with connect() as connection:
        with connection.pipeline():
            cursors = [
                (connection.execute("SELECT next_snowflake()"), connection.execute(echo, (str(n),)))
                for n in range(20)
            ]
        return {
            "result": [number.fetchone()[0] for _, number in cursors],
            "ids": [str(id.fetchone()[0]) for id, _ in cursors],
        }


def transaction():
    with connect(autocommit=False) as connection:
        first = connection.execute("SELECT next_snowflake()").fetchone()[0]
        inside = connection.info.transaction_status.name
        tag = connection.execute("INSERT INTO item (id, name) VALUES (%s, 'gone')", (first,)).statusmessage
        seen = connection.execute("SELECT count(*) FROM item WHERE id = %s", (first,)).fetchone()[0]
        connection.rollback()
        left = connection.execute("SELECT count(*) FROM item WHERE id = %s", (first,)).fetchone()[0]
        zero = report.refused(connection.execute, "SELECT 1/0")
        failed = report.refused(connection.execute, "SELECT next_snowflake()")
        status = connection.info.transaction_status.name
        connection.rollback()
        last = connection.execute("SELECT next_snowflake()").fetchone()[0]
        return {"result": [inside, tag, seen, left, zero, failed, status], "ids": [str(first), str(last)]}


def one(connection):
    return connection.execute("SELECT next_snowflake()").fetchone()[0]


def commit():
    with connect(autocommit=False) as connection:
        return report.commit(connection, one, lambda: connection.execute("SELECT 1/0"))


def pool():
    with psycopg_pool.ConnectionPool(min_size=2, max_size=2) as connections:

        def draw():
            with connections.connection() as connection:
                return one(connection)

        line = report.from_pool(draw)
        connections.check()
        return line


def copy():
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute("TRUNCATE item")
        with cursor.copy("COPY item (name) FROM STDIN") as copy:
            for name in ("one", "two"):
                copy.write_row((name,))
        tag = cursor.statusmessage
        with cursor.copy("COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT") as copy:
            rows = [bytes(block).decode().rstrip("\n").split("\t") for block in copy]
        after = connection.execute("SELECT next_snowflake()").fetchone()[0]
        return {"result": [tag, [name for _, name in rows]], "ids": [id for id, _ in rows] + [str(after)]}


def notify():
    with connect() as listener, connect() as sender:
        listener.execute("LISTEN news")
        before = listener.execute("SELECT next_snowflake()").fetchone()[0]
        sender.execute("NOTIFY news, 'hello'")
        got = next(listener.notifies())
        return {"result": [got.channel, got.payload], "ids": [str(before)]}


def cancel():
    with connect() as sleeper, connect() as other:

        def stop():
            while not other.execute(report.ASLEEP).fetchone()[0]:
                pass
            sleeper.cancel()

        thread = threading.Thread(target=stop)
        thread.start()
        said = report.refused(sleeper.execute, "SELECT pg_sleep(60)")
        thread.join()
        after = sleeper.execute("SELECT next_snowflake()").fetchone()[0]
        return {"result": said, "ids": [str(after)]}


def default():
    with connect() as connection:
        cursor = connection.execute("INSERT INTO item (name) VALUES (%s) RETURNING id", ("new",))
        return {"result": cursor.statusmessage, "ids": [str(cursor.fetchone()[0])]}


def draw(n):
    with connect() as connection:
        return [connection.execute("SELECT next_snowflake()").fetchone()[0] for _ in range(n)]


report.run(
    f"{psycopg.__version__} ({pq.__impl__}, libpq {pq.version() // 10000}.{pq.version() % 10000})",
    password=login(report.PASSWORD_ROLE), scram=login(report.SCRAM_ROLE), tls=tls,
    unprepared=unprepared, prepared=prepared, pipeline=pipeline, mixed=mixed,
    transaction=transaction, commit=commit, copy=copy, notify=notify, cancel=cancel,
    default=default, pool=pool, parallel=lambda: report.in_parallel(draw),
)
