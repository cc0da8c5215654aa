"""What every Python program here shares: one JSON line a deed."""

import json
import os
import sys
import threading

PASSWORD_ROLE, SCRAM_ROLE, PASSWORD = "client_password", "client_scram", "right"
MODE = os.environ.get("CLIENT_MODE", "")


def run(version, **deeds):
    """Prints the driver's version if only that is asked for; else does the deeds. Each returns a line's fields."""
    if sys.argv[1:] == ["version"]:
        print(version)
        return
    for name, do in deeds.items():
        try:
            line = do()
        except Exception as problem:  # the line is the report; the other side decides
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


def in_parallel(draw):
    """1,000 IDs from each of four threads; draw(n) opens a connection and gives n IDs in the order they came."""
    drawn = [None] * 4

    def one(place):
        drawn[place] = draw(1000)

    threads = [threading.Thread(target=one, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"ids": [str(id) for ids in drawn for id in ids]}


ASLEEP = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
