// Prisma over node-postgres, with Prisma Migrate.
import { copyFileSync, cpSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { run } from '../../../clients/node/report.js'
import { gave, place, rows, testDatabase, version } from '../shop.js'
import { prisma } from './cli.js'
import { traps } from './traps.js'

async function using(act, database = process.env.PGDATABASE) {
  const { PrismaClient } = await import('../node_modules/.prisma/shop/client.ts')
  const client = new PrismaClient({ adapter: new PrismaPg({ ...place(), database }) })
  try {
    return await act(client)
  } finally {
    await client.$disconnect()
  }
}

function command(database, ...words) {
  const { status, said } = prisma(database, ...words)
  if (status !== 0) throw new Error(`prisma ${words.join(' ')} failed with ${status}: ${said}`)
}

// migrate also asks afterwards what "prisma migrate dev" would change: nothing. Prisma compares the model with the
// database, and with the migrations, which it applies to a shadow database.
async function migrate() {
  const migrations = `${process.env.FRAMEWORK_SCRATCH}/migrations`
  cpSync(fileURLToPath(new URL('migrations', import.meta.url)), migrations, { recursive: true })
  mkdirSync(`${migrations}/0001_pgflurry`)
  copyFileSync(process.env.FRAMEWORK_ESCAPED, `${migrations}/0001_pgflurry/migration.sql`)
  command(process.env.PGDATABASE, 'migrate', 'deploy')
  for (const from of [['--from-config-datasource'], ['--from-migrations', migrations]]) {
    command(process.env.PGDATABASE, 'migrate', 'diff', ...from, '--to-schema', 'schema.prisma', '--exit-code')
  }
  return {}
}

async function insert(db) {
  // snippet: insert
  const { id } = await db.author.create({ data: { name: 'Ada' } }) // a BigInt
  // snippet: end
  return gave([id])
}

async function batch(db) {
  const authors = rows()
  // snippet: batch
  const added = await db.author.createManyAndReturn({ data: authors, select: { id: true } })
  // snippet: end
  return gave(added.map(({ id }) => id))
}

async function ahead(db) {
  const authors = rows()
  // snippet: ahead
  const drawn = await db.$queryRaw`SELECT * FROM next_snowflakes(1000)`
  const ids = drawn.map(row => row.next_snowflakes)
  await db.author.createMany({ data: authors.map((author, n) => ({ id: ids[n], ...author })) })
  // snippet: end
  return gave(ids)
}

async function foreignKey(db) {
  const author = await db.author.create({
    data: { name: 'Ada', books: { create: [{ title: 'Notes' }, { title: 'Letters' }] } },
    include: { books: true },
  })
  return gave([author, ...author.books].map(({ id }) => id))
}

async function testDatabaseOf(server) {
  await server.$executeRawUnsafe(`CREATE DATABASE ${testDatabase}`)
  try {
    command(testDatabase, 'migrate', 'deploy')
    return { ...await using(insert, testDatabase), result: 'prisma migrate deploy' }
  } finally {
    await server.$executeRawUnsafe(`DROP DATABASE ${testDatabase}`)
  }
}

await run(version('prisma', '@prisma/client'), {
  migrate,
  insert: () => using(insert),
  batch: () => using(batch),
  ahead: () => using(ahead),
  foreign_key: () => using(foreignKey),
  test_database: () => using(testDatabaseOf, 'postgres'),
  traps: async () => ({ result: await traps(() => using(insert)) }),
})
