"""The recipe for psycopg 3."""

import ctypes
import json
import os
import sys
import threading

import psycopg

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../docs/recipes/python"))
from snowflakes import Snowflakes  # noqa: E402

ids = Snowflakes()  # PGHOST and its like name the server


def parallel():
    drawn = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda to=to: to.extend(ids.next() for _ in range(10_000))) for to in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(drawn, [])


def restarted():
    return [ids.next() for _ in range(250)]


def fresh():
    always = Snowflakes(max_age=0)
    return [always.next() for _ in range(5)]


def bulk():
    return ids.take(25_000)


def broken():
    Snowflakes(f"port={os.environ['AWAY_PORT']}").next()


def from_id_database():
    others = Snowflakes("dbname=" + os.environ["ID_DATABASE"])
    return [others.next() for _ in range(1_000)]


def parameter():
    with psycopg.connect(autocommit=True) as connection:
        return [row[0] for row in connection.execute("SELECT * FROM next_snowflakes(%s)", (3,))]


# snippet: begin
def insert(connection, names):
    rows = list(zip(ids.take(len(names)), names))
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO item (id, name) VALUES (%s, %s)", rows)
    return [id for id, _ in rows]
# snippet: end


def inserted():
    with psycopg.connect() as connection:
        return insert(connection, ["lamp", "shade"])


def forked(fork=os.fork):
    ids.next()
    reader, writer = os.pipe()
    child = fork()
    if child == 0:
        with os.fdopen(writer, "w") as to:
            json.dump([ids.next() for _ in range(150)], to)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as of:
        drawn = json.load(of)
    os.waitpid(child, 0)
    return drawn + [ids.next() for _ in range(150)]


def forked_in_c():
    return forked(ctypes.PyDLL(None).fork)  # runs no hook of Python, like the forks of uWSGI


deeds = {
    "parallel": parallel,
    "restarted": restarted,
    "fresh": fresh,
    "bulk": bulk,
    "broken": broken,
    "ids": from_id_database,
    "parameter": parameter,
    "inserted": inserted,
    "forked": forked,
    "forked-in-c": forked_in_c,
}
for name, deed in deeds.items():
    sys.stdin.readline()
    line = {"deed": name}
    try:
        line["ids"] = [str(id) for id in deed()]
    except psycopg.Error as error:
        line["error"] = str(error)
    print(json.dumps(line), flush=True)
