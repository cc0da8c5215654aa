"""Django over psycopg 2, with its migrations and its test runner."""

import contextlib
import os
import sys

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction

import report

settings.configure(
    INSTALLED_APPS=["shop"],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ.get("PGHOST"),
        "PORT": os.environ.get("PGPORT"),
        "NAME": os.environ.get("PGDATABASE", "none"),
        "USER": os.environ.get("PGUSER"),
    }},
)
django.setup()

if os.environ.get("PGDATABASE"):  # without it only the version is wanted
    from shop.models import Author, Book


def migrate():
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)  # the models are those of the migrations
    call_command("migrate", verbosity=0)
    return {}


def insert():
    author = Author.objects.create(name="Ada")
    return {"ids": [str(author.id)]}


def batch():
    authors = Author.objects.bulk_create(Author(name=f"author {n}") for n in range(1000))
    return {"ids": [str(author.id) for author in authors]}


# snippet: draw
def draw(n):
    """IDs before there are rows. The proxy answers this statement from memory."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM next_snowflakes({n:d})")
        return [row[0] for row in cursor.fetchall()]
# snippet: end


def ahead():
    # snippet: ahead
    authors = [Author(id=id, name=f"author {n}") for n, id in enumerate(draw(1000))]
    Author.objects.bulk_create(authors)
    # snippet: end
    return {"ids": [str(author.id) for author in authors]}


def foreign_key():
    with transaction.atomic():
        author = Author.objects.create(name="Ada")
        books = Book.objects.bulk_create([Book(author=author, title="Notes"), Book(author=author, title="Letters")])
    return {"ids": [str(row.id) for row in (author, *books)]}


def test_database():
    with contextlib.redirect_stdout(sys.stderr):
        call_command("test", "shop")
    from shop.tests import seen
    return {"result": "manage.py test", "ids": [str(id) for id in seen]}


report.run(
    django.get_version(),
    migrate=migrate, insert=insert, batch=batch, ahead=ahead, foreign_key=foreign_key, test_database=test_database,
)
