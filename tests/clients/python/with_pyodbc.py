"""ODBC: unixODBC with psqlODBC, by way of pyodbc. CLIENT_MODE is added to the connection string."""

import os
import threading

import pyodbc

import report


def connect(user=None, password="", more="SSLmode=disable", autocommit=True):
    place = "SERVER={PGHOST};PORT={PGPORT};DATABASE={PGDATABASE};".format(**os.environ)
    login = f"UID={user or os.environ['PGUSER']};PWD={password or os.environ.get('PGPASSWORD', '')};"
    settings = "DRIVER={PostgreSQL Unicode};" + place + login + more + ";" + report.MODE
    return pyodbc.connect(settings, autocommit=autocommit)


def refused(do, *arguments):
    try:
        do(*arguments)
    except pyodbc.Error as problem:
        return [type(problem).__name__, *problem.args]  # the SQLSTATE and the text
    return "no error"


def login(role, more="SSLmode=disable"):
    def deed():
        user = connect(role, report.PASSWORD, more).execute("SELECT current_user").fetchone()[0]
        return {"result": [user, refused(connect, role, "wrong", more)]}

    return deed


def tls():
    return login(report.SCRAM_ROLE, "SSLmode=verify-full;pqopt={sslrootcert=" + os.environ["CLIENT_CA"] + "}")()


def one(connection, sql, *arguments):
    return connection.execute(sql, *arguments).fetchone()[0]


def unprepared():
    cursor = connect().execute("SELECT next_snowflake()")
    name, kind, _, size, precision, scale, nullable = cursor.description[0]
    id = cursor.fetchone()[0]
    return {"result": [name, kind.__name__, size, precision, scale, nullable, type(id).__name__], "ids": [str(id)]}


def prepared():
    cursor = connect().cursor()  # pyodbc prepares a statement that has parameters, and keeps the last one
    return {"ids": [str(cursor.execute("SELECT * FROM next_snowflakes(?)", 1).fetchone()[0]) for _ in range(20)]}


# snippet: begin
def order_with_lines(connection, lines):
    """All the IDs in one round trip, then the rows that use them, in one transaction."""
    cursor = connection.cursor()
    ids = [row[0] for row in cursor.execute(f"SELECT next_snowflake() FROM generate_series(1, {len(lines)})")]
    cursor.executemany("INSERT INTO item (id, name) VALUES (?, ?)", list(zip(ids, lines)))
    connection.commit()
    return ids
# snippet: end


def transaction():
    connection = connect(autocommit=False)
    ids = order_with_lines(connection, ["one", "two"])
    first = one(connection, "SELECT next_snowflake()")
    inserted = connection.execute("INSERT INTO item (id, name) VALUES (?, 'gone')", first).rowcount
    count = "SELECT count(*) FROM item WHERE id = ?"
    seen = one(connection, count, first)
    connection.rollback()
    left = one(connection, count, first)
    kept = one(connection, "SELECT count(*) FROM item WHERE id IN (?, ?)", *ids)
    zero = refused(one, connection, "SELECT 1/0")
    failed = refused(one, connection, "SELECT next_snowflake()")
    connection.rollback()
    last = one(connection, "SELECT next_snowflake()")
    return {"result": [inserted, seen, left, kept, zero, failed], "ids": [str(id) for id in (*ids, first, last)]}


def commit():
    connection = connect(autocommit=False)
    return report.commit(
        connection, lambda c: one(c, "SELECT next_snowflake()"), lambda: one(connection, "SELECT 1/0")
    )


def cancel():
    sleeper, other = connect(), connect()
    cursor = sleeper.cursor()

    def stop():
        while not one(other, report.ASLEEP):
            pass
        cursor.cancel()

    thread = threading.Thread(target=stop)
    thread.start()
    said = refused(cursor.execute, "SELECT pg_sleep(60)")
    thread.join()
    return {"result": said, "ids": [str(one(sleeper, "SELECT next_snowflake()"))]}


def default():
    cursor = connect().execute("INSERT INTO item (name) VALUES (?) RETURNING id", "new")
    return {"result": cursor.description[0][1].__name__, "ids": [str(cursor.fetchone()[0])]}


def draw(n):
    connection = connect()
    return [one(connection, "SELECT next_snowflake()") for _ in range(n)]


no_batch = report.none("ODBC batches only statements without rows")
no_pool = report.none("unixODBC pools only where odbcinst.ini says so")
no_such = report.none("ODBC knows neither COPY nor NOTIFY")
report.run(
    f"pyodbc {pyodbc.version}",
    password=login(report.PASSWORD_ROLE), scram=login(report.SCRAM_ROLE), tls=tls,
    unprepared=unprepared, prepared=prepared, pipeline=no_batch, mixed=no_batch,
    transaction=transaction, commit=commit, copy=no_such, notify=no_such, cancel=cancel,
    default=default, pool=no_pool, parallel=lambda: report.in_parallel(draw),
)
