// snippet: model
import { defineEntity, p } from '@mikro-orm/core'

const id = () => p.bigint().primary().autoincrement(false).defaultRaw('next_snowflake()')

export const Author = defineEntity({
  name: 'Author',
  tableName: 'author',
  properties: { id: id(), name: p.text(), books: () => p.oneToMany(Book).mappedBy('author') },
})
// snippet: end

export const Book = defineEntity({
  name: 'Book',
  tableName: 'book',
  properties: { id: id(), title: p.text(), author: () => p.manyToOne(Author) },
})
