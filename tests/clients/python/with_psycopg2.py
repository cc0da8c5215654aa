"""psycopg 2."""

import io
import os
import select
import threading

import psycopg2
import psycopg2.pool

import report


def connect(autocommit=True, **more):
    connection = psycopg2.connect("", **more)  # everything else comes from PGHOST and its like
    connection.autocommit = autocommit
    return connection


def one(connection, sql, arguments=None):
    """First value of the first row, and the command tag."""
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return cursor.fetchone()[0], cursor.statusmessage


def login(role, **more):
    def deed():
        connection = connect(user=role, password=report.PASSWORD, **more)
        user, _ = one(connection, "SELECT current_user")
        connection.close()
        wrong = report.refused(connect, user=role, password="wrong", **more)
        return {"result": {"user": user, "wrong password": wrong}}

    return deed


def tls():
    return login(report.SCRAM_ROLE, sslmode="verify-full", sslrootcert=os.environ["CLIENT_CA"])()


def unprepared():
    connection = connect()
    with connection.cursor() as cursor:
        cursor.execute("SELECT next_snowflake()")
        row = cursor.fetchone()
        column = cursor.description[0]
        return {
            "result": [column.name, column.type_code, cursor.statusmessage, type(row[0]).__name__],
            "ids": [str(row[0])],
        }


def prepared():
    if report.BARE:
        return {"none": "psycopg 2 prepares in SQL alone"}
    connection = connect()
    with connection.cursor() as cursor:
        cursor.execute("PREPARE draw AS SELECT next_snowflake()")
        prepared = cursor.statusmessage
        ids = [str(one(connection, "EXECUTE draw")[0]) for _ in range(20)]
        return {"result": [prepared, cursor.statusmessage], "ids": ids}


# snippet: begin
def order_with_lines(connection, lines):
    """All the IDs in one round trip, then the rows that use them, in one transaction."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT next_snowflake() FROM generate_series(1, %s)", (len(lines),))
        ids = [row[0] for row in cursor.fetchall()]
        cursor.executemany("INSERT INTO item (id, name) VALUES (%s, %s)", list(zip(ids, lines)))
    return ids
# snippet: end


def transaction():
    connection = connect(autocommit=False)
    ids = order_with_lines(connection, ["one", "two"])
    first, _ = one(connection, "SELECT next_snowflake()")
    inside = connection.get_transaction_status()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO item (id, name) VALUES (%s, 'gone')", (first,))
        tag = cursor.statusmessage
    count = "SELECT count(*) FROM item WHERE id = %s"
    seen, _ = one(connection, count, (first,))
    connection.rollback()
    left, _ = one(connection, count, (first,))
    kept, _ = one(connection, "SELECT count(*) FROM item WHERE id = ANY (%s)", (ids,))
    zero = report.refused(one, connection, "SELECT 1/0")
    failed = report.refused(one, connection, "SELECT next_snowflake()")
    status = connection.get_transaction_status()
    connection.rollback()
    last, _ = one(connection, "SELECT next_snowflake()")
    return {
        "result": [inside, tag, seen, left, kept, zero, failed, status],
        "ids": [str(id) for id in (*ids, first, last)],
    }


def drawn(connection):
    return one(connection, "SELECT next_snowflake()")[0]


def commit():
    connection = connect(autocommit=False)
    return report.commit(connection, drawn, lambda: one(connection, "SELECT 1/0"))


def pool():
    connections = psycopg2.pool.ThreadedConnectionPool(2, 4, "")

    def draw():
        connection = connections.getconn()
        try:
            return drawn(connection)
        finally:
            connections.putconn(connection)  # rolls back what was begun

    line = report.from_pool(draw)
    connections.closeall()
    return line


def copy():
    connection = connect()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE item")
        cursor.copy_expert("COPY item (name) FROM STDIN", io.StringIO("one\ntwo\n"))
        tag = cursor.statusmessage
        out = io.StringIO()
        cursor.copy_expert("COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT", out)
        rows = [line.split("\t") for line in out.getvalue().splitlines()]
    after, _ = one(connection, "SELECT next_snowflake()")
    return {"result": [tag, [name for _, name in rows]], "ids": [id for id, _ in rows] + [str(after)]}


def notify():
    listener, sender = connect(), connect()
    listener.cursor().execute("LISTEN news")
    before, _ = one(listener, "SELECT next_snowflake()")
    sender.cursor().execute("NOTIFY news, 'hello'")
    while not listener.notifies:
        select.select([listener], [], [])
        listener.poll()
    return {"result": [(n.channel, n.payload) for n in listener.notifies], "ids": [str(before)]}


def cancel():
    sleeper, other = connect(), connect()

    def stop():
        while not one(other, report.ASLEEP)[0]:
            pass
        sleeper.cancel()

    thread = threading.Thread(target=stop)
    thread.start()
    said = report.refused(one, sleeper, "SELECT pg_sleep(60)")
    thread.join()
    after, _ = one(sleeper, "SELECT next_snowflake()")
    return {"result": said, "ids": [str(after)]}


def default():
    id, tag = one(connect(), "INSERT INTO item (name) VALUES (%s) RETURNING id", ("new",))
    return {"result": tag, "ids": [str(id)]}


def draw(n):
    connection = connect()
    return [one(connection, "SELECT next_snowflake()")[0] for _ in range(n)]


no_pipeline = report.none("psycopg 2 has no pipeline")
libpq = psycopg2.extensions.libpq_version()
report.run(
    f"{psycopg2.__version__.split()[0]} (libpq {libpq // 10000}.{libpq % 10000})",
    password=login(report.PASSWORD_ROLE), scram=login(report.SCRAM_ROLE), tls=tls,
    unprepared=unprepared, prepared=prepared, pipeline=no_pipeline, mixed=no_pipeline,
    transaction=transaction, commit=commit, copy=copy, notify=notify, cancel=cancel,
    default=default, pool=pool, parallel=lambda: report.in_parallel(draw),
)
