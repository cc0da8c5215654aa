"""asyncpg."""

import asyncio
import io
import os
import ssl

import asyncpg

import report


async def connect(**more):
    return await asyncpg.connect(**{"ssl": False, **more})  # everything else comes from PGHOST and its like


def deed(do):
    """A deed that is a coroutine, with a connection of its own."""

    async def whole():
        connection = await connect()
        try:
            return await do(connection)
        finally:
            await connection.close()

    return lambda: asyncio.run(whole())


async def refused(awaitable):
    """What is raised: that it is, is the expected outcome."""
    try:
        await awaitable
    except asyncio.CancelledError:
        return "CancelledError"
    except asyncpg.PostgresError as problem:
        return [type(problem).__name__, problem.sqlstate, str(problem)]
    return "no error"


def login(role, **more):
    async def both():
        connection = await connect(user=role, password=report.PASSWORD, **more)
        user = await connection.fetchval("SELECT current_user")
        await connection.close()
        return {"result": [user, await refused(connect(user=role, password="wrong", **more))]}

    return lambda: asyncio.run(both())


def tls():
    return login(report.SCRAM_ROLE, ssl=ssl.create_default_context(cafile=os.environ["CLIENT_CA"]))()


async def unprepared(connection):  # asyncpg prepares every statement, here on its own
    row = await connection.fetchrow("SELECT next_snowflake()")
    more = [await connection.fetchval("SELECT next_snowflake()") for _ in range(2)]
    return {"result": [list(row.keys()), type(row[0]).__name__], "ids": [str(id) for id in (row[0], *more)]}


async def prepared(connection):
    statement = await connection.prepare("SELECT next_snowflake() AS id")
    column = statement.get_attributes()[0]
    ids = [str(await statement.fetchval()) for _ in range(20)]
    return {"result": [column.name, column.type.name, statement.get_statusmsg()], "ids": ids}


# snippet: begin
async def order_with_lines(connection, lines):
    """All the IDs in one round trip, the rows that use them in another, in one transaction."""
    async with connection.transaction():
        drawn = await connection.fetch("SELECT * FROM next_snowflakes($1)", len(lines))
        ids = [row[0] for row in drawn]
        await connection.copy_records_to_table("item", columns=["id", "name"], records=zip(ids, lines))
    return ids
# snippet: end


async def transaction(connection):
    ids = await order_with_lines(connection, ["one", "two"])
    outer = connection.transaction()
    await outer.start()
    first = await connection.fetchval("SELECT next_snowflake()")
    tag = await connection.execute("INSERT INTO item (id, name) VALUES ($1, 'gone')", first)
    seen = await connection.fetchval("SELECT count(*) FROM item WHERE id = $1", first)
    await outer.rollback()
    left = await connection.fetchval("SELECT count(*) FROM item WHERE id = $1", first)
    kept = await connection.fetchval("SELECT count(*) FROM item WHERE id = ANY ($1)", ids)
    failing = connection.transaction()
    await failing.start()
    zero = await refused(connection.execute("SELECT 1/0"))
    failed = await refused(connection.fetchval("SELECT next_snowflake()"))
    await failing.rollback()
    last = await connection.fetchval("SELECT next_snowflake()")
    return {"result": [tag, seen, left, kept, zero, failed], "ids": [str(id) for id in (*ids, first, last)]}


async def commit(connection):
    ids, failed = [], None
    for ending in ("commit", "rollback", "failed"):
        transaction = connection.transaction()
        await transaction.start()
        ids.append(await connection.fetchval("SELECT next_snowflake()"))
        if ending == "failed":
            await refused(connection.execute("SELECT 1/0"))
            failed = await refused(connection.fetchval("SELECT next_snowflake()"))
        await (transaction.commit() if ending == "commit" else transaction.rollback())
    ids.append(await connection.fetchval("SELECT next_snowflake()"))
    return {"result": failed, "ids": [str(id) for id in ids]}


async def pool(_):
    async with asyncpg.create_pool(min_size=2, max_size=2, ssl=False) as connections:

        async def draw():
            ids = []
            for _ in range(25):
                async with connections.acquire() as connection:  # asyncpg resets it afterwards
                    ids.append(await connection.fetchval("SELECT next_snowflake()"))
            return ids

        drawn = await asyncio.gather(*(draw() for _ in range(4)))
    return {"ids": [str(id) for ids in drawn for id in ids]}


async def copy(connection):
    await connection.execute("TRUNCATE item")
    tag = await connection.copy_records_to_table("item", columns=["name"], records=[("one",), ("two",)])
    out = io.BytesIO()
    await connection.copy_from_query("SELECT id, name FROM item ORDER BY id", output=out)
    rows = [line.split("\t") for line in out.getvalue().decode().splitlines()]
    after = await connection.fetchval("SELECT next_snowflake()")
    return {"result": [tag, [name for _, name in rows]], "ids": [id for id, _ in rows] + [str(after)]}


async def notify(listener):
    heard = asyncio.get_running_loop().create_future()
    await listener.add_listener("news", lambda _, pid, channel, payload: heard.set_result([channel, payload]))
    before = await listener.fetchval("SELECT next_snowflake()")
    sender = await connect()
    await sender.execute("NOTIFY news, 'hello'")
    got = await heard
    await sender.close()
    return {"result": got, "ids": [str(before)]}


async def cancel(sleeper):
    other = await connect()
    sleep = asyncio.ensure_future(sleeper.execute("SELECT pg_sleep(60)"))
    while not await other.fetchval(report.ASLEEP):
        pass
    sleep.cancel()  # asyncpg sends a CancelRequest
    said = await refused(sleep)
    while await other.fetchval(report.ASLEEP):
        pass
    await other.close()
    return {"result": said, "ids": [str(await sleeper.fetchval("SELECT next_snowflake()"))]}


async def default(connection):
    id = await connection.fetchval("INSERT INTO item (name) VALUES ($1) RETURNING id", "new")
    return {"result": type(id).__name__, "ids": [str(id)]}


async def parallel(_):
    async def draw():
        connection = await connect()
        ids = [await connection.fetchval("SELECT next_snowflake()") for _ in range(1000)]
        await connection.close()
        return ids

    drawn = await asyncio.gather(*(draw() for _ in range(4)))
    return {"ids": [str(id) for ids in drawn for id in ids]}


no_pipeline = report.none("asyncpg batches only statements without rows")
report.run(
    asyncpg.__version__,
    password=login(report.PASSWORD_ROLE), scram=login(report.SCRAM_ROLE), tls=tls,
    unprepared=deed(unprepared), prepared=deed(prepared), pipeline=no_pipeline, mixed=no_pipeline,
    transaction=deed(transaction), commit=deed(commit), copy=deed(copy), notify=deed(notify), cancel=deed(cancel),
    default=deed(default), pool=deed(pool), parallel=deed(parallel),
)
