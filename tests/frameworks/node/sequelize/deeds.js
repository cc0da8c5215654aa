// Sequelize over node-postgres, with Umzug's migrations.
import { fileURLToPath } from 'node:url'
import { QueryTypes, Sequelize } from 'sequelize'
import { SequelizeStorage, Umzug } from 'umzug'
import { run } from '../../../clients/node/report.js'
import { gave, place, rows, testDatabase, version } from '../shop.js'
import { shop } from './models.js'
import { traps } from './traps.js'

const here = fileURLToPath(new URL('.', import.meta.url))

async function using(act, database = process.env.PGDATABASE) {
  const { host, port, user } = place()
  const sequelize = new Sequelize(database, user, '', { dialect: 'postgres', host, port, logging: false })
  try {
    return await act(sequelize, shop(sequelize))
  } finally {
    await sequelize.close()
  }
}

const migrate = sequelize => new Umzug({
  migrations: { glob: ['migrations/*.js', { cwd: here }], resolve },
  context: sequelize.getQueryInterface(),
  storage: new SequelizeStorage({ sequelize }),
  logger: undefined,
}).up()

// resolve loads a migration: Umzug would do so by require().
const resolve = ({ name, path, context }) => ({ name, up: async () => (await import(path)).up(context) })

async function insert(sequelize, { Author }) {
  // snippet: insert
  const { id } = await Author.create({ name: 'Ada' }) // a string
  // snippet: end
  return gave([id])
}

async function batch(sequelize, { Author }) {
  const authors = rows()
  // snippet: batch
  const added = await Author.bulkCreate(authors)
  // snippet: end
  return gave(added.map(({ id }) => id))
}

async function ahead(sequelize, { Author }) {
  const authors = rows()
  // snippet: ahead
  const drawn = await sequelize.query('SELECT * FROM next_snowflakes(1000)', { type: QueryTypes.SELECT })
  const ids = drawn.map(row => row.next_snowflakes)
  await Author.bulkCreate(authors.map((author, n) => ({ id: ids[n], ...author })))
  // snippet: end
  return gave(ids)
}

async function foreignKey(sequelize, { Author }) {
  const author = await sequelize.transaction(transaction =>
    Author.create({ name: 'Ada', books: [{ title: 'Notes' }, { title: 'Letters' }] },
      { include: Author.associations.books, transaction }))
  return gave([author, ...author.books].map(({ id }) => id))
}

async function testDatabaseOf(sequelize) {
  const server = sequelize.getQueryInterface()
  await server.createDatabase(testDatabase)
  try {
    return await using(async (test, models) => {
      await migrate(test)
      return { ...await insert(test, models), result: 'createDatabase, umzug.up' }
    }, testDatabase)
  } finally {
    await server.dropDatabase(testDatabase)
  }
}

await run(version('sequelize', 'umzug'), {
  migrate: () => using(async sequelize => {
    await migrate(sequelize)
    return {}
  }),
  insert: () => using(insert),
  batch: () => using(batch),
  ahead: () => using(ahead),
  foreign_key: () => using(foreignKey),
  test_database: () => using(testDatabaseOf, 'postgres'),
  traps: () => using(async sequelize => ({ result: await traps(sequelize) })),
})
