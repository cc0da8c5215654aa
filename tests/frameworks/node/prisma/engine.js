#!/usr/bin/env node
// Prisma's schema engine, as Prisma's command line starts it: a process that answers lines of JSON-RPC. The command
// line would download the engine as a binary. This is the same engine as WebAssembly from npm, so no test downloads.
// Its driver is adapter-pg, which needs two corrections to behave as the binary does:
//
//	it does not know the type "char" of the catalogs: here it is text
//	it would connect to the shadow database by the URL of the other one: here each has its own settings
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { randomUUID } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'

const words = process.argv.slice(2)
const after = name => words[words.indexOf(name) + 1]
const { hostname: host, port, username: user, pathname } = new URL(JSON.parse(after('--datasource')).url)
const factoryOf = database => new PrismaPg({ host, port: Number(port), user, database })
const factory = factoryOf(pathname.slice(1))

const charType = 18, textType = 25

function corrected(adapter) {
  const { client } = adapter
  const query = client.query.bind(client)
  client.query = async (...question) => {
    const answer = await query(...question)
    for (const field of answer.fields ?? []) if (field.dataTypeID === charType) field.dataTypeID = textType
    return answer
  }
  return adapter
}

// shadow makes a database that lives as long as a connection.
async function shadow() {
  const name = `prisma_migrate_shadow_db_${randomUUID()}`
  const { client: server } = await factory.connect()
  await server.query(`CREATE DATABASE "${name}"`)
  const adapter = await factoryOf(name).connect()
  const dispose = adapter.dispose.bind(adapter)
  adapter.dispose = async () => {
    await dispose()
    await server.query(`DROP DATABASE "${name}"`)
    await server.end()
  }
  return corrected(adapter)
}

async function started() {
  const file = new URL('schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm'))
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { './schema_engine_bg.js': bindings })
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  const datamodels = words.includes('--datamodels')
    ? after('--datamodels').split(',').map(path => [path, readFileSync(path, 'utf8')]) : undefined
  const { provider, adapterName } = factory
  const bound = bindMigrationAwareSqlAdapterFactory({
    provider, adapterName, connect: async () => corrected(await factory.connect()), connectToShadowDb: shadow,
  })
  return bindings.SchemaEngine.new({ datamodels }, () => {}, bound)
}

async function answered(engine, method, params) {
  try {
    return { result: await engine[method](params) ?? null }
  } catch ({ message, meta = null, code = null }) {
    return { error: { code: 4466, message, data: { is_panic: false, message, meta, error_code: code } } }
  }
}

if (words.includes('can-connect-to-database')) {
  const { client } = await factory.connect()
  await client.query('SELECT 1')
} else {
  const engine = await started()
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...await answered(engine, method, params) }))
  }
}
process.exit()
