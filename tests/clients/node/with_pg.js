// node-postgres, the module "pg".
import { once } from 'node:events'
import pg from 'pg'
import * as report from './report.js'

// connected returns a client. PGHOST and its like fill in what settings leave out.
async function connected(settings) {
  const client = new pg.Client(settings)
  await client.connect()
  return client
}

async function using(settings, act) {
  const client = await connected(settings)
  try {
    return await act(client)
  } finally {
    await client.end()
  }
}

const login = (user, more) => () =>
  using({ user, password: report.password, ...more }, async client => {
    const { rows } = await client.query('SELECT current_user AS name')
    const wrong = await report.refused(connected({ user, password: 'wrong', ...more }))
    return { result: { user: rows[0].name, wrong } }
  })

const unprepared = () =>
  using({}, async client => {
    const { rows, fields, command, rowCount } = await client.query('SELECT next_snowflake()')
    const { name, dataTypeID, dataTypeSize, format } = fields[0]
    const id = rows[0].next_snowflake
    return { result: [command, rowCount, name, dataTypeID, dataTypeSize, format, typeof id], ids: [id] }
  })

const prepared = () =>
  using({}, async client => {
    const ids = []
    for (let n = 0; n < 20; n++) {
      const { rows } = await client.query({ name: 'draw', text: 'SELECT next_snowflake() AS id' })
      ids.push(rows[0].id)
    }
    if (report.bare) return { ids }
    const names = await client.query('SELECT name, statement FROM pg_prepared_statements')
    return { result: names.rows, ids }
  })

// snippet: begin
// A bigint comes as a string, whole (not with binary: true, which makes another number of it). On a client made with
// { pipeline: true } all of these are sent at once.
async function drawAll(client, n) {
  const draws = Array.from({ length: n }, () => client.query('SELECT next_snowflake() AS id'))
  return (await Promise.all(draws)).map(({ rows }) => rows[0].id)
}

async function orderWithLines(client, lines) {
  const ids = await drawAll(client, lines.length)
  await client.query('INSERT INTO item (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])', [ids, lines])
  return ids
}
// snippet: end

const pipeline = () =>
  using({ pipeline: true }, async client => {
    if (report.bare) return { ids: await drawAll(client, 50) }
    const lines = Array.from({ length: 50 }, (_, n) => `line ${n}`)
    const ids = await orderWithLines(client, lines)
    const { rows } = await client.query('SELECT array_agg(name ORDER BY id) AS names FROM item')
    return { result: rows[0].names, ids }
  })

const mixed = () =>
  using({ pipeline: true }, async client => {
    const pairs = await Promise.all(Array.from({ length: 20 }, async (_, n) => {
      const [id, number] = await Promise.all([
        client.query('SELECT next_snowflake() AS id'),
        client.query("SELECT set_config('client.n', $1, true) AS n", [String(n)]),
      ])
      return [id.rows[0].id, number.rows[0].n]
    }))
    return { result: pairs.map(pair => pair[1]), ids: pairs.map(pair => pair[0]) }
  })

const transaction = () =>
  using({}, async client => {
    await client.query('BEGIN')
    const first = (await client.query('SELECT next_snowflake() AS id')).rows[0].id
    const inserted = await client.query("INSERT INTO item (id, name) VALUES ($1, 'gone')", [first])
    const seen = await client.query('SELECT count(*) FROM item WHERE id = $1', [first])
    await client.query('ROLLBACK')
    const left = await client.query('SELECT count(*) FROM item WHERE id = $1', [first])
    await client.query('BEGIN')
    const zero = await report.refused(client.query('SELECT 1/0'))
    const failed = await report.refused(client.query('SELECT next_snowflake()'))
    const ended = (await client.query('COMMIT')).command
    const last = (await client.query('SELECT next_snowflake() AS id')).rows[0].id
    const { command, rowCount } = inserted
    return { result: [command, rowCount, seen.rows, left.rows, zero, failed, ended], ids: [first, last] }
  })

const commit = () =>
  using({}, async client => {
    const draw = async () => (await client.query('SELECT next_snowflake() AS id')).rows[0].id
    const ids = []
    let failed
    for (const end of ['COMMIT', 'ROLLBACK', 'ROLLBACK']) {
      await client.query('BEGIN')
      ids.push(await draw())
      if (ids.length === 3) {
        await report.refused(client.query('SELECT 1/0'))
        failed = await report.refused(draw())
      }
      await client.query(end)
    }
    return { result: failed, ids: [...ids, await draw()] }
  })

const fromPool = async () => {
  const pool = new pg.Pool({ max: 2 })
  const line = await report.fromPool(async () => (await pool.query('SELECT next_snowflake() AS id')).rows[0].id)
  await pool.end()
  return line
}

const notify = () =>
  using({}, listener => using({}, async sender => {
    await listener.query('LISTEN news')
    const id = (await listener.query('SELECT next_snowflake() AS id')).rows[0].id
    const heard = once(listener, 'notification')
    await sender.query("NOTIFY news, 'hello'")
    const [{ channel, payload }] = await heard
    return { result: [channel, payload], ids: [id] }
  }))

const cancel = () =>
  using({}, sleeper => using({}, async other => {
    const said = report.refused(sleeper.query('SELECT pg_sleep(60)'))
    while ((await other.query(report.asleep)).rows[0].sleepers === 0);
    await other.query('SELECT pg_cancel_backend($1)', [sleeper.processID])
    const cancelled = await said
    return { result: cancelled, ids: [(await sleeper.query('SELECT next_snowflake() AS id')).rows[0].id] }
  }))

const byDefault = () =>
  using({}, async client => {
    const { rows, command, rowCount } = await client.query('INSERT INTO item (name) VALUES ($1) RETURNING id', ['new'])
    return { result: [command, rowCount, typeof rows[0].id], ids: [rows[0].id] }
  })

const draw = n =>
  using({}, async client => {
    const ids = []
    for (let i = 0; i < n; i++) ids.push((await client.query('SELECT next_snowflake() AS id')).rows[0].id)
    return ids
  })

await report.run(report.version('pg'), {
  password: login(report.passwordRole),
  scram: login(report.scramRole),
  tls: () => login(report.scramRole, { ssl: report.tls() })(),
  unprepared, prepared, pipeline, mixed, transaction, commit,
  copy: report.none('COPY is another module, pg-copy-streams'), notify, cancel,
  default: byDefault, pool: fromPool, parallel: () => report.inParallel(draw),
})
