import { defineConfig } from 'prisma/config'

const { PGUSER, PGHOST, PGPORT, PRISMA_DATABASE, FRAMEWORK_SCRATCH } = process.env

export default defineConfig({
  schema: 'schema.prisma',
  migrations: { path: `${FRAMEWORK_SCRATCH}/migrations` },
  datasource: { url: `postgres://${PGUSER}@${PGHOST}:${PGPORT}/${PRISMA_DATABASE}` },
})
