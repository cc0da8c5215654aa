import { readFileSync } from 'node:fs'
import type { MigrationInterface, QueryRunner } from 'typeorm'
const file = process.env.FRAMEWORK_MIGRATION

// snippet: pgflurry
// The file is the output of "pgflurry migrate print". Without parameters TypeORM sends it whole.
export class Pgflurry1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner) {
    await runner.query(readFileSync(file, 'utf8'))
  }
  // snippet: end

  async down() {
    throw new Error('pgflurry stays here; "pgflurry migrate down" removes it')
  }
}

export class Tables1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner) {
    await runner.query(`
      CREATE TABLE author (
        id   bigint DEFAULT next_snowflake() PRIMARY KEY,
        name text NOT NULL
      )`)
    await runner.query(`
      CREATE TABLE book (
        id        bigint DEFAULT next_snowflake() PRIMARY KEY,
        title     text NOT NULL,
        author_id bigint NOT NULL REFERENCES author
      )`)
  }

  async down(runner: QueryRunner) {
    await runner.query('DROP TABLE book, author')
  }
}
