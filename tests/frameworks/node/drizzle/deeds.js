// Drizzle ORM over node-postgres, with drizzle-kit's migrations.
import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { run } from '../../../clients/node/report.js'
import { gave, rows, same, testDatabase, version } from '../shop.js'
import { author, book } from './schema.js'
import { traps } from './traps.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const migrationsFolder = `${process.env.FRAMEWORK_SCRATCH}/drizzle`

async function using(act, database = process.env.PGDATABASE) {
  const pool = new pg.Pool({ database, max: 2 }) // the rest comes from PGHOST and its like
  try {
    return await act(drizzle(pool))
  } finally {
    await pool.end()
  }
}

// kit runs drizzle-kit, which resolves paths from its working folder.
function kit(...words) {
  const program = fileURLToPath(new URL('../node_modules/drizzle-kit/bin.cjs', import.meta.url))
  const environment = { ...process.env, FRAMEWORK_DATABASE: process.env.PGDATABASE,
    FRAMEWORK_SCRATCH: relative(here, process.env.FRAMEWORK_SCRATCH) }
  return execFileSync(process.execPath, [program, ...words], { cwd: here, env: environment, encoding: 'utf8' })
}

// As on the page: an empty migration, which gets the printed text of pgflurry, then the tables. At the end drizzle-kit
// compares the schema with the database.
function migrateFirst() {
  kit('generate', '--custom', '--name=pgflurry')
  copyFileSync(process.env.FRAMEWORK_MIGRATION, `${migrationsFolder}/0000_pgflurry.sql`)
  kit('generate', '--name=tables')
  kit('migrate')
  const said = kit('push', '--strict')
  same(said.includes('No changes detected') ? [] : [said])
  return {}
}

async function insert(db) {
  // snippet: insert
  const [{ id }] = await db.insert(author).values({ name: 'Ada' }).returning({ id: author.id }) // a BigInt
  // snippet: end
  return gave([id])
}

async function batch(db) {
  const authors = rows()
  // snippet: batch
  const added = await db.insert(author).values(authors).returning({ id: author.id })
  // snippet: end
  return gave(added.map(({ id }) => id))
}

async function ahead(db) {
  const authors = rows()
  // snippet: ahead
  const drawn = await db.execute(sql`SELECT * FROM next_snowflakes(1000)`)
  const ids = drawn.rows.map(row => BigInt(row.next_snowflakes))
  await db.insert(author).values(authors.map((author, n) => ({ id: ids[n], ...author })))
  // snippet: end
  return gave(ids)
}

const foreignKey = db => db.transaction(async transaction => {
  const [{ id: authorId }] = await transaction.insert(author).values({ name: 'Ada' }).returning()
  const titles = ['Notes', 'Letters'].map(title => ({ title, authorId }))
  const books = await transaction.insert(book).values(titles).returning()
  return gave([authorId, ...books.map(({ id }) => id)])
})

async function testDatabaseOf(server) {
  await server.execute(`CREATE DATABASE ${testDatabase}`)
  try {
    return await using(async test => {
      await migrate(test, { migrationsFolder })
      return { ...await insert(test), result: 'migrate()' }
    }, testDatabase)
  } finally {
    await server.execute(`DROP DATABASE ${testDatabase}`)
  }
}

await run(version('drizzle-orm', 'drizzle-kit'), {
  migrate: async () => migrateFirst(),
  insert: () => using(insert),
  batch: () => using(batch),
  ahead: () => using(ahead),
  foreign_key: () => using(foreignKey),
  test_database: () => using(testDatabaseOf, 'postgres'),
  traps: async () => ({ result: await traps() }),
})
