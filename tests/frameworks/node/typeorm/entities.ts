// snippet: model
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm'

const snowflake = () => 'next_snowflake()'

@Entity('author')
export class Author {
  @PrimaryColumn({ type: 'bigint', default: snowflake })
  id: string // bigint is a string in JavaScript here

  @Column({ type: 'text' })
  name: string

  @OneToMany(() => Book, book => book.author, { cascade: ['insert'] })
  books: Relation<Book>[]
}
// snippet: end

@Entity('book')
export class Book {
  @PrimaryColumn({ type: 'bigint', default: snowflake })
  id: string

  @Column({ type: 'text' })
  title: string

  @ManyToOne(() => Author, author => author.books, { nullable: false })
  @JoinColumn({ name: 'author_id', foreignKeyConstraintName: 'book_author_id_fkey' })
  author: Relation<Author>
}
