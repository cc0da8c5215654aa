// What the section about TypeORM warns of. Models of the same table, with other words about its key.
import { DataSource, EntitySchema, type EntitySchemaColumnOptions } from 'typeorm'
import { place } from '../shop.js'

const given = '383130641660642319'

async function withKey(id: EntitySchemaColumnOptions) {
  const { host, port, user: username, database } = place()
  const Author = new EntitySchema<{ id: string, name: string }>({
    name: 'Author', tableName: 'author',
    columns: { id: { type: 'bigint', primary: true, ...id }, name: { type: 'text' } },
  })
  const asked: string[] = []
  const logger = { logQuery: (query: string) => asked.push(query) } as any
  for (const name of ['QueryError', 'QuerySlow', 'SchemaBuild', 'Migration']) logger[`log${name}`] = () => {}
  const source = await new DataSource({
    type: 'postgres', host, port, username, database, entities: [Author], logging: ['query'], logger,
  }).initialize()
  try {
    const { upQueries } = await source.driver.createSchemaBuilder().log()
    const authors = source.getRepository(Author)
    const { identifiers: [first] } = await authors.insert({ name: 'Ada' })
    const { identifiers: [second] } = await authors.insert({ id: given, name: 'Ada' })
    await authors.delete({ id: given })
    asked.length = 0
    await authors.save({ id: given, name: 'Ada' })
    const selects = asked.filter(query => query.startsWith('SELECT')).length
    await authors.delete({ id: given })
    return { changes: upQueries.map(({ query }) => query).join(';'), first: first?.id, second: second?.id, selects }
  } finally {
    await source.destroy()
  }
}

export async function traps() {
  const right = await withKey({ default: () => 'next_snowflake()' })
  const increment = await withKey({ generated: 'increment' })
  const bare = await withKey({})
  return {
    'with default an ID comes back, and a given one is kept': Boolean(right.first) && right.second === given,
    'save() with an ID asks first': right.selects > 0,
    'increment ignores a given ID': increment.second !== given,
    'increment: synchronize replaces the DEFAULT by a sequence': increment.changes.includes('nextval'),
    'without default no ID comes back': bare.first === undefined,
    'without default: synchronize drops the DEFAULT': bare.changes.includes('DROP DEFAULT'),
  }
}
