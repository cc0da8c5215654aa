// TypeORM over node-postgres, with its own migrations.
import { DataSource } from 'typeorm'
import { run } from '../../../clients/node/report.js'
import { gave, place, rows, same, testDatabase, version } from '../shop.js'
import { Author, Book } from './entities.ts'
import { Pgflurry1700000000001, Tables1700000000002 } from './migrations.ts'
import { traps } from './traps.ts'

async function using(act: (source: DataSource) => Promise<object>, database = process.env.PGDATABASE) {
  const { host, port, user } = place()
  const source = await new DataSource({
    type: 'postgres', host, port, username: user, database,
    entities: [Author, Book], migrations: [Pgflurry1700000000001, Tables1700000000002],
  }).initialize()
  try {
    return await act(source)
  } finally {
    await source.destroy()
  }
}

// migrate also asks afterwards what "synchronize" would change: nothing.
async function migrate(source: DataSource) {
  await source.runMigrations({ transaction: 'each' })
  const { upQueries } = await source.driver.createSchemaBuilder().log()
  same(upQueries.map(({ query }) => query))
  return {}
}

async function insert(source: DataSource) {
  // snippet: insert
  const author = await source.getRepository(Author).save({ name: 'Ada' }) // author.id is there
  // snippet: end
  return gave([author.id])
}

async function batch(source: DataSource) {
  const authors = rows()
  // snippet: batch
  const { identifiers } = await source.getRepository(Author).insert(authors)
  // snippet: end
  return gave(identifiers.map(({ id }) => id))
}

async function ahead(source: DataSource) {
  const authors = rows()
  // snippet: ahead
  const drawn = await source.query('SELECT * FROM next_snowflakes(1000)')
  const ids = drawn.map(row => row.next_snowflakes)
  await source.getRepository(Author).insert(authors.map((author, n) => ({ id: ids[n], ...author })))
  // snippet: end
  return gave(ids)
}

async function foreignKey(source: DataSource) {
  const author = await source.getRepository(Author).save({
    name: 'Ada',
    books: [{ title: 'Notes' }, { title: 'Letters' }],
  })
  return gave([author, ...author.books].map(({ id }) => id))
}

async function testDatabaseOf(source: DataSource) {
  const runner = source.createQueryRunner()
  await runner.createDatabase(testDatabase)
  try {
    return await using(async test => {
      await migrate(test)
      return { ...await insert(test), result: 'createDatabase, runMigrations' }
    }, testDatabase)
  } finally {
    await runner.dropDatabase(testDatabase)
    await runner.release()
  }
}

await run(version('typeorm', 'pg'), {
  migrate: () => using(migrate),
  insert: () => using(insert),
  batch: () => using(batch),
  ahead: () => using(ahead),
  foreign_key: () => using(foreignKey),
  test_database: () => using(testDatabaseOf, 'postgres'),
  traps: async () => ({ result: await traps() }),
})
