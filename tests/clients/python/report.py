"""What every Python program here shares: one JSON line a deed."""

import json
import os
import sys
import threading

PASSWORD_ROLE, SCRAM_ROLE, PASSWORD = "client_password", os.environ.get("CLIENT_ROLE"), "right"
MODE = os.environ.get("CLIENT_MODE", "")
BARE = bool(os.environ.get("CLIENT_BARE"))  # the database has no tables


def run(version, **deeds):
    """Prints the driver's version if only that is asked for; else does those of the deeds that are asked for. Each
    returns a line's fields."""
    if sys.argv[1:] == ["version"]:
        print(version)
        return
    asked = os.environ["CLIENT_DEEDS"].split()
    for name, do in deeds.items():
        if name.rstrip("_") not in asked:
            continue
        try:
            line = do()
        except Exception as problem:  # the test that reads the line decides
            line = {"error": f"{type(problem).__name__}: {problem}", "sqlstate": sqlstate(problem)}
        print(json.dumps({"deed": name.rstrip("_"), **line}, default=str), flush=True)


def sqlstate(problem):
    """The SQLSTATE under each driver's name for it."""
    for name in ("sqlstate", "pgcode"):
        if getattr(problem, name, None):
            return getattr(problem, name)
    for inner in (getattr(problem, "orig", None), problem.__cause__):
        if inner is not None:
            return sqlstate(inner)
    return ""


def refused(do, *arguments, **more):
    """What do raises: that it does is the expected outcome."""
    try:
        do(*arguments, **more)
    except Exception as problem:
        return {"class": type(problem).__name__, "sqlstate": sqlstate(problem), "text": str(problem).strip()}
    return "no error"


def none(why):
    """A deed that the driver cannot do."""
    return lambda: {"none": why}


def commit(connection, draw, fail):
    """What a connection that begins transactions by itself gives in some: one is committed, two are rolled back, of
    which one has failed."""
    ids = [draw(connection)]
    connection.commit()
    ids.append(draw(connection))
    connection.rollback()
    ids.append(draw(connection))
    refused(fail)
    failed = refused(draw, connection)
    connection.rollback()
    ids.append(draw(connection))
    connection.rollback()
    return {"result": failed, "ids": [str(id) for id in ids]}


def from_pool(draw):
    """100 IDs, 25 by each of four threads; draw() takes a connection from the pool and gives it back."""
    return in_parallel(lambda n: [draw() for _ in range(n)], 25)


def in_parallel(draw, each=1000):
    """1,000 IDs from each of four threads; draw(n) opens a connection and gives n IDs in the order they came."""
    drawn = [None] * 4

    def one(place):
        drawn[place] = draw(each)

    threads = [threading.Thread(target=one, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"ids": [str(id) for ids in drawn for id in ids]}


ASLEEP = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
