import { Migration } from '@mikro-orm/migrations'

export class Migration2Tables extends Migration {
  up() {
    this.addSql(`create table author (
      id bigint not null default next_snowflake() primary key,
      name text not null
    )`)
    this.addSql(`create table book (
      id bigint not null default next_snowflake() primary key,
      title text not null,
      author_id bigint not null constraint book_author_id_foreign references author
    )`)
  }
}
