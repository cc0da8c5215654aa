// What the section about MikroORM warns of. It asks what a generated migration would change.
import { defineEntity, p } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/postgresql'
import { place } from '../shop.js'
import { Author, Book } from './entities.js'

async function changes(settings) {
  const { host, port, user, database } = place()
  const orm = await MikroORM.init({ host, port, user, dbName: database, logger: () => {}, ...settings })
  try {
    return await orm.schema.getUpdateSchemaSQL({ wrap: false })
  } finally {
    await orm.close()
  }
}

const Counted = defineEntity({
  name: 'Counted', tableName: 'author',
  properties: { id: p.bigint().primary().defaultRaw('next_snowflake()'), name: p.text() },
})

export async function traps() {
  const routines = await changes({ entities: [Author, Book] })
  const counted = await changes({ entities: [Counted], schemaGenerator: { ignoreRoutines: true } })
  return {
    'without ignoreRoutines a migration drops next_snowflake()': /drop function .*"next_snowflake"\(\)/.test(routines),
    'without autoincrement(false) a migration makes a sequence': counted.includes('nextval'),
  }
}
