// snippet: model
import { sql } from 'drizzle-orm'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'

const snowflake = sql`next_snowflake()`

export const author = pgTable('author', {
  id: bigint({ mode: 'bigint' }).primaryKey().default(snowflake), // mode 'number' rounds, and says nothing
  name: text().notNull(),
})
// snippet: end

export const book = pgTable('book', {
  id: bigint({ mode: 'bigint' }).primaryKey().default(snowflake),
  authorId: bigint('author_id', { mode: 'bigint' }).notNull().references(() => author.id),
  title: text().notNull(),
})
