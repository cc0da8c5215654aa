// What the frameworks of JavaScript make of an ID: in a column, in a document, and in rows that they nest.
import 'reflect-metadata'
import { MikroORM } from '@mikro-orm/postgresql'
import { PrismaPg } from '@prisma/adapter-pg'
import knex from 'knex'
import { QueryTypes, Sequelize } from 'sequelize'
import { DataSource } from 'typeorm'
import { tell } from '../../clients/node/ids_in_json_report.js'
import { Author as MikroAuthor, Book as MikroBook } from './mikroorm/entities.js'
import { shop } from './sequelize/models.js'
import { place, version } from './shop.js'
import { Author, Book } from './typeorm/entities.ts'

const document = 'SELECT to_jsonb(author) AS document FROM author'

async function withPrisma() {
  const { PrismaClient } = await import('./node_modules/.prisma/shop/client.ts')
  const db = new PrismaClient({ adapter: new PrismaPg(place()) })
  const row = await db.author.findFirst({ select: { id: true } })
  const [second] = await db.$queryRawUnsafe(document)
  const used = version('prisma')
  tell('Prisma', used, row, second.document)
  const nested = await db.author.findFirst({ include: { books: { select: { id: true } } } })
  tell('Prisma, rows nested by `include`', used, nested.books[0], null)
  await db.$disconnect()
}

async function withTypeORM() {
  const { user: username, ...rest } = place()
  const db = await new DataSource({ type: 'postgres', ...rest, username, entities: [Author, Book] }).initialize()
  const row = await db.getRepository(Author).findOne({ where: {}, select: { id: true } })
  const [second] = await db.query(document)
  tell('TypeORM', version('typeorm'), row, second.document)
  await db.destroy()
}

async function withSequelize() {
  const { host, port, user, database } = place()
  const db = new Sequelize(database, user, '', { dialect: 'postgres', host, port, logging: false })
  const row = await shop(db).Author.findOne({ attributes: ['id'] })
  const [second] = await db.query(document, { type: QueryTypes.SELECT })
  tell('Sequelize', version('sequelize'), row, second.document)
  await db.close()
}

async function withKnex() {
  const db = knex({ client: 'pg', connection: place() })
  const row = await db('author').first('id')
  const { rows: [second] } = await db.raw(document)
  tell('Knex', version('knex'), row, second.document)
  await db.destroy()
}

async function withMikroORM() {
  const { host, port, user, database: dbName } = place()
  const db = await MikroORM.init({ host, port, user, dbName, logger: () => {}, entities: [MikroAuthor, MikroBook] })
  const used = version('@mikro-orm/core')
  const [row] = await db.em.fork().findAll(MikroAuthor, { fields: ['id'] })
  const [second] = await db.em.fork().execute(document)
  tell('MikroORM', used, row, second.document)
  const [nested] = await db.em.fork().findAll(MikroAuthor, { populate: ['books'] })
  tell('MikroORM, rows nested by `populate`', used, { id: nested.books[0].id }, null)
  await db.close()
}

await withPrisma()
await withTypeORM()
await withSequelize()
await withKnex()
await withMikroORM()
