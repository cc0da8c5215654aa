import { readFileSync } from 'node:fs'
import { Migration } from '@mikro-orm/migrations'
const file = process.env.FRAMEWORK_MIGRATION

// snippet: pgflurry
// The file is the output of "pgflurry migrate print".
export class Migration1Pgflurry extends Migration {
  up() {
    this.addSql(readFileSync(file, 'utf8'))
  }
}
// snippet: end
