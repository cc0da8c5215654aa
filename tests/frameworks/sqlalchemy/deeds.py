"""SQLAlchemy over psycopg 2, with Alembic's migrations."""

import os
import pathlib

import alembic
import alembic.command
import alembic.config
import sqlalchemy
from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session

import report
from models import Author, Book

HERE = pathlib.Path(__file__).parent


def place(database=None):
    """The rest comes from PGHOST and its like."""
    return URL.create("postgresql+psycopg2", database=database or os.environ.get("PGDATABASE"))


def upgrade(url):
    config = alembic.config.Config()
    config.set_main_option("script_location", str(HERE / "migrations"))
    config.set_main_option("sqlalchemy.url", url.render_as_string(hide_password=False))
    alembic.command.upgrade(config, "head")


def migrate():
    upgrade(place())
    return {}


def insert():
    with Session(create_engine(place())) as session:
        author = Author(name="Ada")
        session.add(author)
        session.commit()
        return {"ids": [str(author.id)]}


def batch():
    with Session(create_engine(place())) as session:
        authors = [Author(name=f"author {n}") for n in range(1000)]
        session.add_all(authors)
        session.flush()  # all of them have their IDs now
        ids = [str(author.id) for author in authors]
        session.commit()
        return {"ids": ids}


# snippet: draw
def draw(session, n):
    """IDs before there are rows. The proxy answers this statement from memory."""
    return session.scalars(text(f"SELECT * FROM next_snowflakes({n:d})")).all()
# snippet: end


def ahead():
    with Session(create_engine(place())) as session:
        # snippet: ahead
        ids = draw(session, 1000)
        session.add_all(Author(id=id, name=f"author {n}") for n, id in enumerate(ids))
        # snippet: end
        session.commit()
        return {"ids": [str(id) for id in ids]}


def foreign_key():
    with Session(create_engine(place())) as session:
        author = Author(name="Ada", books=[Book(title="Notes"), Book(title="Letters")])
        session.add(author)
        session.commit()
        return {"ids": [str(row.id) for row in (author, *author.books)]}


def test_database():
    name = os.environ["PGDATABASE"] + "_test"
    admin = create_engine(place("postgres"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine = create_engine(place(name))
    try:
        upgrade(place(name))
        with Session(engine) as session:
            author = Author(name="Ada")
            session.add(author)
            session.commit()
            return {"result": "alembic upgrade head", "ids": [str(author.id)]}
    finally:
        engine.dispose()
        with admin.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name}")


report.run(
    f"{sqlalchemy.__version__}, {alembic.__version__}",
    migrate=migrate, insert=insert, batch=batch, ahead=ahead, foreign_key=foreign_key, test_database=test_database,
)
