// What the section about Drizzle warns of.
import { relations, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import pg from 'pg'
import * as shop from './schema.js'

const rounded = pgTable('author', {
  id: bigint({ mode: 'number' }).primaryKey().default(sql`next_snowflake()`),
  name: text().notNull(),
})

const booksOf = relations(shop.author, ({ many }) => ({ books: many(shop.book) }))
const authorOf = relations(shop.book, ({ one }) => ({
  author: one(shop.author, { fields: [shop.book.authorId], references: [shop.author.id] }),
}))

export async function traps() {
  const pool = new pg.Pool()
  const db = drizzle(pool, { schema: { ...shop, booksOf, authorOf } })
  try {
    const names = Array.from({ length: 100 }, (_, n) => `author ${n}`)
    const numbers = await db.insert(rounded).values(names.map(name => ({ name }))).returning({ id: rounded.id })
    const [{ id: authorId }] = await db.insert(shop.author).values({ name: 'Ada' }).returning()
    const written = await db.insert(shop.book).values(names.map(title => ({ title, authorId }))).returning()
    const [{ books }] = await db.query.author.findMany({ with: { books: true }, where: sql`id = ${authorId}` })
    const joined = await db.select({ id: shop.book.id }).from(shop.author)
      .innerJoin(shop.book, sql`author_id = author.id`)
    const distinct = found => new Set(found.map(({ id }) => id)).size
    return {
      'mode number rounds': distinct(numbers) < names.length,
      'a relational query rounds in mode bigint': distinct(written) === names.length && distinct(books) < names.length,
      'a join does not round': written.every(({ id }) => joined.some(row => row.id === id)),
    }
  } finally {
    await pool.end()
  }
}
