// What JavaScript's drivers make of an ID, in a column and in a document.
import { relations, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'
import postgres from 'postgres'
import { tell } from './ids_in_json_report.js'
import { version } from './report.js'

const column = 'SELECT id FROM author WHERE id = $1', aString = ['330678927360028673']
const documents = 'SELECT to_jsonb(author) AS document FROM author'

async function withPg(way, settings) {
  const client = new pg.Client(settings)
  await client.connect()
  const { rows: [row] } = await client.query(column, aString)
  const document = settings.binary ? null : (await client.query(documents)).rows[0].document
  tell(`node-postgres${way}`, version('pg'), row, document)
  await client.end()
}

async function withPostgres(way, settings) {
  const db = postgres({ max: 1, ssl: false, ...settings })
  const [row] = await db.unsafe(column, aString)
  const [second] = await db.unsafe(documents)
  tell(`postgres.js${way}`, version('postgres'), row, second.document)
  await db.end()
}

async function withDrizzle() {
  const pool = new pg.Pool({ max: 1 })
  for (const mode of ['bigint', 'number']) {
    const author = pgTable('author', { id: bigint({ mode }).primaryKey() })
    const book = pgTable('book', { author_id: bigint({ mode }), id: bigint({ mode }).primaryKey() })
    const books = relations(author, ({ many }) => ({ books: many(book) }))
    const writer = relations(book, ({ one }) => ({
      writer: one(author, { fields: [book.author_id], references: [author.id] }),
    }))
    const db = drizzle(pool, { schema: { author, book, books, writer } })
    const [row] = await db.select().from(author)
    const { rows: [second] } = await db.execute(sql.raw(documents))
    tell(`Drizzle, mode ${mode}`, version('drizzle-orm'), row, second.document)
    const nested = await db.query.author.findFirst({ with: { books: { columns: { id: true } } } })
    tell(`Drizzle, mode ${mode}, rows nested by \`with\``, version('drizzle-orm'), nested.books[0], null)
  }
  await pool.end()
}

// snippet: whole
// For JSON.parse: integers beyond 2^53 become a BigInt, from their text. An engine that does not give it is refused.
const whole = (key, value, context) => {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value
  if (!context) throw new RangeError(`${value} may be rounded, and this engine does not give its text`)
  return /^-?[0-9]+$/.test(context.source) ? BigInt(context.source) : value
}
// snippet: end

// snippet: pg
// node-postgres: a bigint as BigInt; documents (json 114, jsonb 3802) without loss.
const types = {
  getTypeParser: (type, format) =>
    type === 20 ? BigInt
      : type === 114 || type === 3802 ? text => JSON.parse(text, whole)
        : pg.types.getTypeParser(type, format),
}
// snippet: end

// snippet: postgres
const typesOfPostgres = {
  bigint: postgres.BigInt,
  json: { to: 114, from: [114, 3802], serialize: JSON.stringify, parse: text => JSON.parse(text, whole) },
}
// snippet: end

await withPg('', {})
await withPg(', `binary: true`', { binary: true })
await withPg(', with the types below', { types })
await withPostgres('', {})
await withPostgres(', with the types below', { types: typesOfPostgres })
await withDrizzle()
