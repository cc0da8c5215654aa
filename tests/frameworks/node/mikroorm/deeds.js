// MikroORM over node-postgres, with its own migrations.
import { Migrator } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'
import { run } from '../../../clients/node/report.js'
import { gave, place, rows, same, testDatabase, version } from '../shop.js'
import { Author, Book } from './entities.js'
import { Migration1Pgflurry } from './migrations/Migration1Pgflurry.js'
import { Migration2Tables } from './migrations/Migration2Tables.js'
import { traps } from './traps.js'

// MikroORM finds migration files with a function of Node 22. This also works with Node 20.
const migrationsList = [Migration1Pgflurry, Migration2Tables].map(found => ({ name: found.name, class: found }))

async function using(act, database = process.env.PGDATABASE) {
  const { host, port, user } = place()
  const orm = await MikroORM.init({
    host, port, user, dbName: database,
    migrations: { migrationsList, snapshot: false }, logger: () => {},
    // snippet: settings
    entities: [Author, Book],
    extensions: [Migrator],
    batchSize: 1000, // rows of an INSERT; 300 if it is not said
    schemaGenerator: { ignoreRoutines: true }, // else a generated migration drops next_snowflake()
    // snippet: end
  })
  try {
    return await act(orm, orm.em.fork())
  } finally {
    await orm.close()
  }
}

// migrate also generates a migration afterwards, which must be empty.
async function migrate(orm) {
  await orm.migrator.up()
  same((await orm.schema.getUpdateSchemaSQL({ wrap: false })).split('\n').filter(Boolean))
  return {}
}

async function insert(orm, em) {
  // snippet: insert
  const author = em.create(Author, { name: 'Ada' })
  await em.flush() // author.id is there, a BigInt
  // snippet: end
  return gave([author.id])
}

async function batch(orm, em) {
  // snippet: batch
  const authors = rows().map(row => em.create(Author, row))
  await em.flush()
  // snippet: end
  return gave(authors.map(({ id }) => id))
}

async function ahead(orm, em) {
  const authors = rows()
  // snippet: ahead
  const drawn = await em.execute('SELECT * FROM next_snowflakes(1000)')
  const ids = drawn.map(row => BigInt(row.next_snowflakes))
  for (const [n, author] of authors.entries()) em.create(Author, { id: ids[n], ...author })
  await em.flush()
  // snippet: end
  return gave(ids)
}

async function foreignKey(orm, em) {
  const author = em.create(Author, { name: 'Ada', books: [{ title: 'Notes' }, { title: 'Letters' }] })
  await em.flush() // one transaction
  return gave([author, ...author.books].map(({ id }) => id))
}

const testDatabaseOf = () => using(async (orm, em) => {
  await orm.schema.ensureDatabase()
  try {
    await migrate(orm)
    return { ...await insert(orm, em), result: 'ensureDatabase, migrator.up' }
  } finally {
    await orm.schema.dropDatabase(testDatabase)
  }
}, testDatabase)

await run(version('@mikro-orm/core'), {
  migrate: () => using(migrate),
  insert: () => using(insert),
  batch: () => using(batch),
  ahead: () => using(ahead),
  foreign_key: () => using(foreignKey),
  test_database: testDatabaseOf,
  traps: async () => ({ result: await traps() }),
})
