// Knex over node-postgres, with its own migrations.
import Knex from 'knex'
import { fileURLToPath } from 'node:url'
import { run } from '../../../clients/node/report.js'
import { gave, rows, testDatabase, version } from '../shop.js'
import { traps } from './traps.js'

const migrations = { directory: fileURLToPath(new URL('migrations', import.meta.url)) }

// using gives a pool; host and port come from PGHOST and its like.
async function using(act, database = process.env.PGDATABASE) {
  const knex = Knex({ client: 'pg', connection: { database }, pool: { min: 0, max: 2 } })
  try {
    return await act(knex)
  } finally {
    await knex.destroy()
  }
}

async function insert(knex) {
  // snippet: insert
  const [{ id }] = await knex('author').insert({ name: 'Ada' }).returning('id') // a string
  // snippet: end
  return gave([id])
}

async function batch(knex) {
  const authors = rows()
  // snippet: batch
  const added = await knex('author').insert(authors).returning('id')
  // snippet: end
  return gave(added.map(({ id }) => id))
}

async function ahead(knex) {
  const authors = rows()
  // snippet: ahead
  const drawn = await knex.raw('SELECT * FROM next_snowflakes(1000)')
  const ids = drawn.rows.map(row => row.next_snowflakes)
  await knex('author').insert(authors.map((author, n) => ({ id: ids[n], ...author })))
  // snippet: end
  return gave(ids)
}

const foreignKey = knex => knex.transaction(async transaction => {
  const [author] = await transaction('author').insert({ name: 'Ada' }).returning('id')
  const titles = ['Notes', 'Letters'].map(title => ({ title, author_id: author.id }))
  const books = await transaction('book').insert(titles).returning('id')
  return gave([author, ...books].map(({ id }) => id))
})

const testDatabaseOf = knex => knex.raw('CREATE DATABASE ??', [testDatabase])
  .then(() => using(async test => {
    await test.migrate.latest(migrations)
    return { ...await insert(test), result: 'migrate.latest' }
  }, testDatabase))
  .finally(() => knex.raw('DROP DATABASE IF EXISTS ??', [testDatabase]))

await run(version('knex', 'pg'), {
  migrate: () => using(async knex => {
    await knex.migrate.latest(migrations)
    return {}
  }),
  insert: () => using(insert),
  batch: () => using(batch),
  ahead: () => using(ahead),
  foreign_key: () => using(foreignKey),
  test_database: () => using(testDatabaseOf, 'postgres'),
  traps: () => using(async knex => ({ result: await traps(knex) })),
})
