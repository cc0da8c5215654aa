// Shared by the programs here.
import { readFileSync } from 'node:fs'

// version of modules, each from its own package.json.
export const version = (...modules) => modules.map(module =>
  JSON.parse(readFileSync(new URL(`node_modules/${module}/package.json`, import.meta.url))).version).join(', ')

// The settings of the environment, for frameworks that do not read them by themselves.
export const place = () => ({
  host: process.env.PGHOST, port: Number(process.env.PGPORT),
  user: process.env.PGUSER, database: process.env.PGDATABASE,
})
export const testDatabase = `${process.env.PGDATABASE}_test`

// rows are 1,000 authors without IDs.
export const rows = () => Array.from({ length: 1000 }, (_, n) => ({ name: `author ${n}` }))

// gave returns a deed's line.
export const gave = ids => ({ ids: ids.map(String) })

// same fails if a framework's comparison of its model with the database finds a difference.
export function same(changes) {
  if (changes.length > 0) throw new Error(`the model differs from the database: ${changes.join('; ')}`)
}
