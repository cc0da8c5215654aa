// Query builders and mappers over node-postgres: each connects, draws an ID and leaves. CLIENT_MODE names one.
import { PrismaPg } from '@prisma/adapter-pg'
import knex from 'knex'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import pgPromise from 'pg-promise'
import { QueryTypes, Sequelize } from 'sequelize'
import { createPool, sql as slonik } from 'slonik'
import { DataSource } from 'typeorm'
import * as report from './report.js'

const { PGHOST: host, PGPORT: port, PGDATABASE: database, PGUSER: user } = process.env
const url = `postgres://${user}:${report.password}@${host}:${port}/${database}?sslmode=disable`
const draw = 'SELECT next_snowflake() AS id'

const libraries = {
  pg: async () => { // with node-postgres' first example
    const client = new pg.Client(url)
    await client.connect()
    await client.query('SELECT NOW()')
    const { rows } = await client.query(draw)
    await client.end()
    return rows[0].id
  },
  'pg-promise': async () => {
    const promises = pgPromise()
    const { id } = await promises(url).one(draw)
    promises.end()
    return id
  },
  kysely: async () => {
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) })
    const { rows } = await sql.raw(draw).execute(db)
    await db.destroy()
    return rows[0].id
  },
  knex: async () => {
    const db = knex({ client: 'pg', connection: url })
    const { rows } = await db.raw(draw)
    await db.destroy()
    return rows[0].id
  },
  typeorm: async () => {
    const db = await new DataSource({ type: 'postgres', url }).initialize()
    const [{ id }] = await db.query(draw)
    await db.destroy()
    return id
  },
  sequelize: async () => {
    const db = new Sequelize(url, { logging: false })
    await db.authenticate()
    const [{ id }] = await db.query(draw, { type: QueryTypes.SELECT })
    await db.close()
    return id
  },
  slonik: async () => {
    const pool = await createPool(url)
    const id = await pool.oneFirst(slonik.unsafe`SELECT next_snowflake() AS id`)
    await pool.end()
    return id
  },
  '@prisma/adapter-pg': async () => {
    const db = await new PrismaPg({ connectionString: url }).connect()
    const { rows } = await db.queryRaw({ sql: draw, args: [], argTypes: [] })
    await db.dispose()
    return rows[0][0]
  },
}

const name = process.env.CLIENT_MODE ?? 'pg'
await report.run(report.version(name), { unprepared: async () => ({ ids: [String(await libraries[name]())] }) })
