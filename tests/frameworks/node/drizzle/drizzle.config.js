// What drizzle-kit reads: the schema, the folder of migrations, the database.
const { PGHOST, PGPORT, PGUSER, FRAMEWORK_DATABASE, FRAMEWORK_SCRATCH } = process.env

export default {
  dialect: 'postgresql',
  schema: './schema.js',
  out: `${FRAMEWORK_SCRATCH}/drizzle`,
  dbCredentials: { host: PGHOST, port: Number(PGPORT), user: PGUSER, database: FRAMEWORK_DATABASE, ssl: false },
}
