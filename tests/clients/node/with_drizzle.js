// Drizzle ORM over node-postgres.
import { eq, inArray, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import pg from 'pg'
import * as report from './report.js'

// using returns the ORM with a pool of one connection. PGHOST and its like fill in what settings leave out.
async function using(settings, act) {
  const pool = new pg.Pool({ max: 1, ...settings })
  try {
    return await act(drizzle(pool))
  } finally {
    await pool.end()
  }
}

// snippet: begin
const item = pgTable('item', {
  id: bigint({ mode: 'bigint' }).primaryKey().default(sql`next_snowflake()`),
  name: text(),
})

// Keys from the database, by RETURNING.
async function orderWithLines(db, lines) {
  const rows = await db.insert(item).values(lines.map(name => ({ name }))).returning({ id: item.id })
  return rows.map(row => row.id)
}

// An ID before there is a row.
async function draw(db) {
  const { rows } = await db.execute(sql`SELECT next_snowflake() AS id`)
  return BigInt(rows[0].id)
}
// snippet: end

// refused returns the driver's error, which Drizzle wraps.
const refused = promise => report.refused(promise.catch(problem => { throw problem.cause ?? problem }))

const login = (user, more) => async () => {
  const name = password => using({ user, password, ...more }, async db => {
    const { rows } = await db.execute(sql`SELECT current_user AS name`)
    return rows[0].name
  })
  return { result: [await name(report.password), await refused(name('wrong'))] }
}

const unprepared = () => using({}, async db => ({ ids: [String(await draw(db))] }))

const transaction = () =>
  using({}, async db => {
    const kept = await orderWithLines(db, ['one', 'two'])
    let first, seen, zero, failed
    const undone = await report.refused(db.transaction(async tx => {
      first = await draw(tx)
      await tx.insert(item).values({ id: first, name: 'gone' })
      seen = await tx.select({ name: item.name }).from(item).where(eq(item.id, first))
      tx.rollback()
    }))
    const left = await db.select().from(item).where(eq(item.id, first))
    const names = await db.select({ name: item.name }).from(item).where(inArray(item.id, kept)).orderBy(item.id)
    await db.transaction(async tx => {
      zero = await refused(tx.execute(sql`SELECT 1/0`))
      failed = await refused(draw(tx))
    })
    return { result: [seen, undone, left, names, zero, failed], ids: [...kept, first, await draw(db)].map(String) }
  })

const commit = () =>
  using({}, async db => {
    const ids = [await db.transaction(draw)]
    let failed
    for (const fails of [false, true]) {
      await report.refused(db.transaction(async tx => {
        ids.push(await draw(tx))
        if (fails) {
          await report.refused(tx.execute(sql`SELECT 1/0`))
          failed = await refused(draw(tx))
        }
        tx.rollback()
      }))
    }
    return { result: failed, ids: [...ids, await draw(db)].map(String) }
  })

const pool = () => using({ max: 2 }, db => report.fromPool(() => draw(db)))

const byDefault = () =>
  using({}, async db => {
    const [id] = await orderWithLines(db, ['new'])
    return { result: await db.select({ name: item.name }).from(item).where(eq(item.id, id)), ids: [String(id)] }
  })

const drawMany = n =>
  using({}, async db => {
    const ids = []
    for (let i = 0; i < n; i++) ids.push(await draw(db))
    return ids
  })

const below = report.none("prepared statements, batches, COPY, NOTIFY and cancel are the driver's below it")
await report.run(report.version('drizzle-orm'), {
  password: login(report.passwordRole),
  scram: login(report.scramRole),
  tls: () => login(report.scramRole, { ssl: report.tls() })(),
  unprepared, prepared: below, pipeline: below, mixed: below, transaction, commit, copy: below, notify: below,
  cancel: below, default: byDefault, pool, parallel: () => report.inParallel(drawMany),
})
