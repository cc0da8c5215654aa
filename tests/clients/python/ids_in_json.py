"""What Python's drivers make of an ID, in a column and in a document: see node/ids_in_json_report.js."""
import asyncio
import importlib.metadata
import json
import sys

COLUMN, DOCUMENT = "SELECT id FROM author", "SELECT to_jsonb(author) FROM author"


def tell(driver, id, document):
    def seen(value):
        return {"type": type(value).__name__, "text": str(value)}

    if isinstance(document, str):  # the driver gives it as text
        document = json.loads(document)
    row, version = json.dumps({"id": id}), importlib.metadata.version(driver)
    line = {"bigint": seen(id), "row": row, "document": seen(document["id"])}
    print(json.dumps({"driver": driver, "version": version} | line))


def psycopg():
    import psycopg as driver

    with driver.connect() as connection:
        (id,), (document,) = (connection.execute(query).fetchone() for query in (COLUMN, DOCUMENT))
    tell("psycopg", id, document)


def psycopg2():
    import psycopg2 as driver

    rows = []
    with driver.connect("") as connection, connection.cursor() as cursor:
        for query in COLUMN, DOCUMENT:
            cursor.execute(query)
            rows += cursor.fetchone()
    tell("psycopg2", *rows)


async def with_asyncpg():
    import asyncpg as driver

    connection = await driver.connect()
    tell("asyncpg", await connection.fetchval(COLUMN), await connection.fetchval(DOCUMENT))
    await connection.close()


for asked in sys.argv[1:]:
    if asked == "asyncpg":
        asyncio.run(with_asyncpg())
    else:
        {"psycopg": psycopg, "psycopg2": psycopg2}[asked]()
