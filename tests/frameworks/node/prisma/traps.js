// What the section about Prisma says of its commands.
import { cpSync, rmSync } from 'node:fs'
import { prisma } from './cli.js'

export async function traps(insert) {
  const { PGDATABASE: database, FRAMEWORK_SCRATCH: scratch } = process.env
  const without = `${scratch}/without`
  cpSync(`${scratch}/migrations`, without, { recursive: true })
  rmSync(`${without}/0001_pgflurry`, { recursive: true })
  const shadow = prisma(database, 'migrate', 'diff', '--from-migrations', without, '--to-schema', 'schema.prisma')
  const reset = prisma(database, 'migrate', 'reset', '--force')
  const { ids } = await insert()
  return {
    'without pgflurry in a migration the shadow database is refused by P3006': shadow.said.includes('P3006'),
    'migrate reset runs the migrations again': reset.status === 0,
    'there are IDs after a reset': ids.length === 1,
  }
}
