import { readFileSync } from 'node:fs'
const file = process.env.FRAMEWORK_MIGRATION

// snippet: pgflurry
// The file is the output of "pgflurry migrate print".
export const up = knex => knex.raw(readFileSync(file, 'utf8'))
// snippet: end

export const down = () => { throw new Error('pgflurry stays here; "pgflurry migrate down" removes it') }
