"""SQLAlchemy's ORM over psycopg 2."""

import os

import sqlalchemy
from sqlalchemy import BigInteger, Column, Text, create_engine, func, select, text
from sqlalchemy.orm import Session, declarative_base

import report

Base = declarative_base()


# snippet: begin
class Item(Base):
    __tablename__ = "item"
    id = Column(BigInteger, primary_key=True, autoincrement=False, server_default=text("next_snowflake()"))
    name = Column(Text)


def order_with_lines(session, lines):
    """Keys from the database, which SQLAlchemy reads with RETURNING."""
    items = [Item(name=line) for line in lines]
    session.add_all(items)
    session.commit()
    return [item.id for item in items]


def draw(session):
    """An ID before there is a row."""
    return session.scalar(select(func.next_snowflake()))
# snippet: end


def engine(user="", password="", **more):
    place = sqlalchemy.engine.URL.create(  # host and the rest come from PGHOST and its like
        "postgresql+psycopg2", username=user or None, password=password or None, query=more
    )
    return create_engine(place)


def login(role, **more):
    def connect(password):
        with engine(role, password, **more).connect() as connection:
            return connection.scalar(text("SELECT current_user"))

    def deed():
        return {"result": [connect(report.PASSWORD), report.refused(connect, "wrong")]}

    return deed


def tls():
    return login(report.SCRAM_ROLE, sslmode="verify-full", sslrootcert=os.environ["CLIENT_CA"])()


def unprepared():
    with Session(engine()) as session:
        id = draw(session)
        return {"result": type(id).__name__, "ids": [str(id)]}


def transaction():
    with Session(engine()) as session:
        kept = order_with_lines(session, ["one", "two"])
        first = draw(session)
        session.add(Item(id=first, name="gone"))
        session.flush()
        seen = session.get(Item, first).name
        session.rollback()
        left = session.get(Item, first)
        names = [session.get(Item, id).name for id in kept]
        zero = report.refused(session.execute, text("SELECT 1/0"))
        failed = report.refused(draw, session)
        session.rollback()
        return {
            "result": [seen, left, names, zero["sqlstate"], failed["sqlstate"]],
            "ids": [str(id) for id in (*kept, first, draw(session))],
        }


def commit():
    with Session(engine()) as session:
        return report.commit(session, draw, lambda: session.execute(text("SELECT 1/0")))


def pool():
    connections = create_engine("postgresql+psycopg2://", pool_size=2, max_overflow=0, pool_pre_ping=True)

    def borrow():
        with Session(connections) as session:
            return draw(session)

    line = report.from_pool(borrow)
    connections.dispose()
    return line


def default():
    with Session(engine()) as session:
        item = Item(name="new")
        session.add(item)
        session.commit()
        return {"result": item.name, "ids": [str(item.id)]}


def draw_many(n):
    with Session(engine()) as session:
        return [draw(session) for _ in range(n)]


below = report.none("prepared statements, batches, COPY, NOTIFY and cancel are the driver's below it")
report.run(
    sqlalchemy.__version__,
    password=login(report.PASSWORD_ROLE), scram=login(report.SCRAM_ROLE), tls=tls,
    unprepared=unprepared, prepared=below, pipeline=below, mixed=below,
    transaction=transaction, commit=commit, copy=below, notify=below, cancel=below,
    default=default, pool=pool, parallel=lambda: report.in_parallel(draw_many),
)
