// Prisma's own command line, with the schema engine beside this file: node prisma/cli.js generate
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const beside = file => fileURLToPath(new URL(file, import.meta.url))

// prisma runs a command for a database, and gives its exit code and what it said.
export function prisma(database, ...words) {
  const program = beside('../node_modules/prisma/build/index.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: beside('.'), encoding: 'utf8',
    env: {
      ...process.env, PRISMA_DATABASE: database, PRISMA_SCHEMA_ENGINE_BINARY: beside('engine.js'),
      CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  })
  return { status, said: stdout + stderr }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { status, said } = prisma('postgres', ...process.argv.slice(2))
  console.log(said)
  process.exitCode = status
}
