// postgres.js, the module "postgres".
import { once } from 'node:events'
import { Readable } from 'node:stream'
import postgres from 'postgres'
import * as report from './report.js'

// using returns one connection. PGHOST and its like fill in what settings leave out.
async function using(settings, act) {
  const sql = postgres({ max: 1, ssl: false, ...settings })
  try {
    return await act(sql)
  } finally {
    await sql.end()
  }
}

const login = (user, more) => () => {
  const name = password => using({ user, password, ...more }, async sql => {
    const [{ name }] = await sql`SELECT current_user AS name`
    return name
  })
  return name(report.password).then(async user => ({ result: { user, wrong: await report.refused(name('wrong')) } }))
}

const unprepared = () =>
  using({ prepare: false }, async sql => {
    const rows = await sql`SELECT next_snowflake()`
    const { name, type } = rows.columns[0]
    const simple = await sql`SELECT next_snowflake()`.simple()
    const ids = [rows[0].next_snowflake, simple[0].next_snowflake]
    return { result: [rows.command, rows.count, name, type, simple.command], ids }
  })

const prepared = () =>
  using({}, async sql => {
    const ids = []
    for (let n = 0; n < 20; n++) {
      const [{ id }] = await sql`SELECT next_snowflake() AS id`
      ids.push(id)
    }
    if (report.bare) return { ids }
    const names = await sql`SELECT statement FROM pg_prepared_statements ORDER BY statement`
    return { result: names.length, ids }
  })

// snippet: begin
// A bigint comes as a string, whole. Queries that are not awaited one by one share a round trip.
async function drawAll(sql, n) {
  const drawn = await Promise.all(Array.from({ length: n }, () => sql`SELECT next_snowflake() AS id`))
  return drawn.map(([row]) => row.id)
}

async function orderWithLines(sql, lines) {
  const ids = await drawAll(sql, lines.length)
  await sql`INSERT INTO item ${sql(lines.map((name, n) => ({ id: ids[n], name })))}`
  return ids
}
// snippet: end

const pipeline = () =>
  using({}, async sql => {
    if (report.bare) return { ids: await drawAll(sql, 50) }
    const ids = await orderWithLines(sql, Array.from({ length: 50 }, (_, n) => `line ${n}`))
    const [{ names }] = await sql`SELECT array_agg(name ORDER BY id) AS names FROM item`
    return { result: names, ids }
  })

const mixed = () =>
  using({}, async sql => {
    const pairs = await Promise.all(Array.from({ length: 20 }, async (_, n) => {
      const [[{ id }], [{ number }]] = await Promise.all([
        sql`SELECT next_snowflake() AS id`,
        sql`SELECT set_config('client.n', ${String(n)}, true) AS number`,
      ])
      return [id, number]
    }))
    return { result: pairs.map(pair => pair[1]), ids: pairs.map(pair => pair[0]) }
  })

const transaction = () =>
  using({}, async sql => {
    let first, inside
    const undone = await report.refused(sql.begin(async sql => {
      first = (await sql`SELECT next_snowflake() AS id`)[0].id
      const inserted = await sql`INSERT INTO item (id, name) VALUES (${first}, 'gone')`
      const [seen] = await sql`SELECT count(*) FROM item WHERE id = ${first}`
      inside = [inserted.command, inserted.count, seen.count]
      throw new Error('undo')
    }))
    const [left] = await sql`SELECT count(*) FROM item WHERE id = ${first}`
    let failed
    const zero = await report.refused(sql.begin(async sql => {
      const thrown = report.refused(sql`SELECT 1/0`)
      await thrown
      failed = await report.refused(sql`SELECT next_snowflake() AS id`)
      throw new Error('given up')
    }))
    const [{ id }] = await sql`SELECT next_snowflake() AS id`
    return { result: [inside, undone, left.count, zero, failed], ids: [first, id] }
  })

const commit = () =>
  using({}, async sql => {
    const drawOne = async sql => (await sql`SELECT next_snowflake() AS id`)[0].id
    const ids = [await sql.begin(drawOne)]
    let failed
    for (const fails of [false, true]) {
      await report.refused(sql.begin(async sql => {
        ids.push(await drawOne(sql))
        if (fails) {
          await report.refused(sql`SELECT 1/0`)
          failed = await report.refused(drawOne(sql))
        }
        throw new Error('undo')
      }))
    }
    return { result: failed, ids: [...ids, await drawOne(sql)] }
  })

const pool = () =>
  using({ max: 2 }, sql => report.fromPool(async () => (await sql`SELECT next_snowflake() AS id`)[0].id))

const copy = () =>
  using({}, async sql => {
    await sql`TRUNCATE item`
    const writable = await sql`COPY item (name) FROM STDIN`.writable()
    const finished = once(writable, 'finish')
    Readable.from(['one\ntwo\n']).pipe(writable)
    await finished
    let out = ''
    for await (const block of await sql`COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT`.readable()) out += block
    const rows = out.trimEnd().split('\n').map(text => text.split('\t'))
    const [{ id }] = await sql`SELECT next_snowflake() AS id`
    return { result: rows.map(row => row[1]), ids: [...rows.map(row => row[0]), id] }
  })

const notify = () =>
  using({}, async sql => {
    let heard
    const arrived = new Promise(resolve => { heard = resolve })
    const listening = await sql.listen('news', heard)
    const [{ id }] = await sql`SELECT next_snowflake() AS id`
    await sql.notify('news', 'hello')
    const payload = await arrived
    await listening.unlisten()
    return { result: payload, ids: [id] }
  })

const cancel = () =>
  using({}, sleeper => using({}, async other => {
    const sleep = sleeper`SELECT pg_sleep(60)`
    const said = report.refused(sleep)
    while ((await other.unsafe(report.asleep))[0].sleepers === 0);
    sleep.cancel()
    const cancelled = await said
    // The server signals a backend twice: the process and its group. The second signal may hit the next statement,
    // because this driver does not wait for the end of its cancel request. libpq does.
    const draw = () => sleeper`SELECT next_snowflake() AS id`
    const [{ id }] = await draw().catch(met => {
      if (met.code !== '57014') throw met
      return draw()
    })
    return { result: cancelled, ids: [id] }
  }))

const byDefault = () =>
  using({}, async sql => {
    const rows = await sql`INSERT INTO item ${sql({ name: 'new' })} RETURNING id`
    return { result: [rows.command, rows.count, typeof rows[0].id], ids: [rows[0].id] }
  })

const draw = n =>
  using({}, async sql => {
    const ids = []
    for (let i = 0; i < n; i++) ids.push((await sql`SELECT next_snowflake() AS id`)[0].id)
    return ids
  })

await report.run(report.version('postgres'), {
  password: login(report.passwordRole),
  scram: login(report.scramRole),
  tls: () => login(report.scramRole, { ssl: report.tls() })(),
  unprepared, prepared, pipeline, mixed, transaction, commit, copy, notify, cancel,
  default: byDefault, pool, parallel: () => report.inParallel(draw),
})
