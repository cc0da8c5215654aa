"""Django's ORM over psycopg 2."""

import os

import django
from django.conf import settings
from django.core import signals
from django.db import connection, connections, models, transaction as transactions

import report


def place(user=None, password="", **more):
    return {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ.get("PGHOST"),
        "PORT": os.environ.get("PGPORT"),
        "NAME": os.environ.get("PGDATABASE", "none"),
        "USER": user or os.environ.get("PGUSER"),
        "PASSWORD": password,
        "OPTIONS": more,
    }


def secure():
    return {"sslmode": "verify-full", "sslrootcert": os.environ.get("CLIENT_CA", "")}


settings.configure(DATABASES={
    "default": place(),
    "kept": {**place(), "CONN_MAX_AGE": 60},
    "password": place(report.PASSWORD_ROLE, report.PASSWORD),
    "password wrong": place(report.PASSWORD_ROLE, "wrong"),
    "scram": place(report.SCRAM_ROLE, report.PASSWORD),
    "scram wrong": place(report.SCRAM_ROLE, "wrong"),
    "tls": place(report.SCRAM_ROLE, report.PASSWORD, **secure()),
    "tls wrong": place(report.SCRAM_ROLE, "wrong", **secure()),
})
django.setup()


# snippet: begin
class SnowflakeField(models.BigAutoField):
    """A key that the database makes. Django leaves it out of the INSERT and reads it with RETURNING."""

    def db_type(self, connection):
        return "bigint DEFAULT next_snowflake()"

    def db_type_suffix(self, connection):  # from 4.1 on: no identity
        return None


class Item(models.Model):
    id = SnowflakeField(primary_key=True)
    name = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "item"


def order_with_lines(lines):
    """One INSERT; bulk_create fills in the keys."""
    return [item.id for item in Item.objects.bulk_create([Item(name=line) for line in lines])]


def draw():
    """An ID before there is a row."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT next_snowflake()")
        return cursor.fetchone()[0]
# snippet: end


def login(name):
    def user(alias):
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_user")
            return cursor.fetchone()[0]

    return lambda: {"result": [user(name), report.refused(user, name + " wrong")]}


def unprepared():
    id = draw()
    return {"result": type(id).__name__, "ids": [str(id)]}


def transaction():
    kept = order_with_lines(["one", "two"])
    transactions.set_autocommit(False)
    first = draw()
    Item.objects.create(id=first, name="gone")
    seen = Item.objects.filter(id=first).count()
    transactions.rollback()
    left = Item.objects.filter(id=first).count()
    names = list(Item.objects.filter(id__in=kept).order_by("id").values_list("name", flat=True))
    zero = report.refused(connection.cursor().execute, "SELECT 1/0")
    failed = report.refused(draw)
    transactions.rollback()
    transactions.set_autocommit(True)
    return {
        "result": [seen, left, names, zero["sqlstate"], failed["sqlstate"]],
        "ids": [str(id) for id in (*kept, first, draw())],
    }


def commit():
    ids, failed = [], None
    transactions.set_autocommit(False)
    for end in (transactions.commit, transactions.rollback, transactions.rollback):
        ids.append(draw())
        if len(ids) == 3:
            report.refused(connection.cursor().execute, "SELECT 1/0")
            failed = report.refused(draw)
        end()
    transactions.set_autocommit(True)
    return {"result": failed, "ids": [str(id) for id in (*ids, draw())]}


def kept():
    """One request: Django keeps the connection of a thread for the next, CONN_MAX_AGE long."""
    signals.request_started.send(None)
    with connections["kept"].cursor() as cursor:
        cursor.execute("SELECT next_snowflake()")
        id = cursor.fetchone()[0]
    signals.request_finished.send(None)
    return id


def default():
    with connection.schema_editor() as editor:  # as a migration would
        editor.execute("DROP TABLE item")
        editor.create_model(Item)
    item = Item.objects.create(name="new")
    return {"result": Item.objects.get(id=item.id).name, "ids": [str(item.id)]}


def draw_many(n):
    ids = [draw() for _ in range(n)]
    connection.close()  # this thread's own
    return ids


below = report.none("prepared statements, batches, COPY, NOTIFY and cancel are the driver's below it")
report.run(
    django.get_version(),
    password=login("password"), scram=login("scram"), tls=login("tls"),
    unprepared=unprepared, prepared=below, pipeline=below, mixed=below,
    transaction=transaction, commit=commit, copy=below, notify=below, cancel=below,
    default=default, pool=lambda: report.from_pool(kept), parallel=lambda: report.in_parallel(draw_many),
)
