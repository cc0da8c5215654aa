// The recipe for pg.

import { createInterface } from 'node:readline'
import pg from 'pg'
import { Snowflakes } from '../../../docs/recipes/typescript/snowflakes.js'

const draws = new pg.Pool({ max: 1 }) // PGHOST and its like name the server
draws.on('error', () => {})
const ids = new Snowflakes(draws)
const standardInput = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

async function oneByOne(from: Snowflakes, n: number): Promise<bigint[]> {
  const drawn: bigint[] = []
  while (drawn.length < n) drawn.push(await from.next())
  return drawn
}

// snippet: begin
async function insert(db: pg.Pool, names: string[]): Promise<bigint[]> {
  const keys = await ids.take(names.length)
  await db.query('INSERT INTO item (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])', [keys, names])
  return keys
}
// snippet: end

const deeds: Record<string, () => Promise<bigint[]>> = {
  parallel: () => Promise.all(Array.from({ length: 40_000 }, () => ids.next())),
  restarted: () => oneByOne(ids, 250),
  lost: () => {
    let times = 0
    const loses = { query: (text: string) => times++ ? draws.query(text) : Promise.reject(new Error('lost')) }
    return oneByOne(new Snowflakes(loses), 1)
  },
  fresh: () => oneByOne(new Snowflakes(draws, { maxAge: 0 }), 5),
  bulk: () => ids.take(25_000),
  broken: () => {
    const away = new pg.Pool({ port: Number(process.env['AWAY_PORT']) })
    return new Snowflakes(away).take(1)
  },
  ids: async () => {
    const others = new pg.Pool({ database: process.env['ID_DATABASE']!, max: 1 })
    try {
      return await oneByOne(new Snowflakes(others), 1_000)
    } finally {
      await others.end()
    }
  },
  parameter: async () => {
    const { rows } = await draws.query('SELECT * FROM next_snowflakes($1)', [3])
    return rows.map(row => BigInt(row.next_snowflakes))
  },
  inserted: () => insert(draws, ['lamp', 'shade']),
}

for (const [deed, run] of Object.entries(deeds)) {
  await standardInput.next()
  try {
    console.log(JSON.stringify({ deed, ids: (await run()).map(String) }))
  } catch (error) {
    console.log(JSON.stringify({ deed, error: error instanceof Error ? error.message || error.name : error }))
  }
}
await draws.end()
process.stdin.destroy()
