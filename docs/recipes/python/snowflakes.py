"""IDs ahead of the insert, for psycopg 3.

    ids = Snowflakes("host=proxy port=6432 dbname=pgflurry user=app connect_timeout=5")
    ids.next()        # one ID, mostly from memory
    ids.take(1000)    # a list of IDs, in the order in which they were drawn

Safe for threads, and for processes that fork.
"""

import collections
import os
import threading
import time

import psycopg


class Snowflakes:
    """Keeps one connection, which it opens when it first draws.

    batch: how many IDs a draw asks for, 1 to 10,000. max_age: for how many seconds they are good.
    """

    def __init__(self, conninfo="", batch=100, max_age=1.0):
        self._conninfo, self._batch, self._max_age = conninfo, batch, max_age
        self._forked()
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self):
        self._lock = threading.Lock()  # which a thread of the parent may have held
        self._process = None

    def _forget(self):
        self._process = os.getpid()
        self._ids = collections.deque()
        self._connection = None
        self._began = 0.0, 0.0

    def next(self):
        return self.take(1)[0]

    def take(self, n):
        with self._lock:
            # A child has a copy of the IDs, which its parent will give, and of the parent's socket. A fork in C, as
            # uWSGI's, does not call _forked.
            if self._process != os.getpid():
                self._forget()
            if self._too_old():
                self._ids.clear()
            while len(self._ids) < n:
                self._draw(min(max(n - len(self._ids), self._batch), 10_000))
            return [self._ids.popleft() for _ in range(n)]

    def _too_old(self):
        """Asks both clocks: the monotonic one may stand still while the machine sleeps."""
        monotonic, wall = self._began
        return max(time.monotonic() - monotonic, abs(time.time() - wall)) >= self._max_age

    def _draw(self, n):
        began = time.monotonic(), time.time()
        try:
            drawn = self._ask(n)
        except psycopg.OperationalError:  # the proxy has restarted; drawing again is safe
            drawn = self._ask(n)
        self._began = began
        self._ids.extend(row[0] for row in drawn)

    def _ask(self, n):
        if self._connection is None:
            self._connection = psycopg.connect(self._conninfo, autocommit=True)
        try:
            # The number is in the text, because the proxy leaves a parameter of psycopg's to PostgreSQL.
            return self._connection.execute(f"SELECT * FROM next_snowflakes({n:d})", prepare=False).fetchall()
        except BaseException:
            connection, self._connection = self._connection, None
            connection.close()
            raise
