// Prints the line of JSON of each deed, as every program here does.
import { readFileSync } from 'node:fs'

export const passwordRole = 'client_password', scramRole = process.env.CLIENT_ROLE, password = 'right'
export const asleep = `SELECT count(*)::int AS sleepers FROM pg_stat_activity
  WHERE wait_event = 'PgSleep' AND datname = current_database()`
export const tls = () => ({ ca: readFileSync(process.env.CLIENT_CA, 'utf8'), rejectUnauthorized: true })

// bare says whether the database has no tables.
export const bare = Boolean(process.env.CLIENT_BARE)

// version of a module, from its own package.json.
export const version = module =>
  JSON.parse(readFileSync(new URL(`node_modules/${module}/package.json`, import.meta.url))).version

// run does the deeds that CLIENT_DEEDS names. Each returns the fields of its line. With the argument "version" run only
// prints the version.
export async function run(version, deeds) {
  if (process.argv[2] === 'version') {
    console.log(version)
    return
  }
  const asked = process.env.CLIENT_DEEDS.split(' ')
  for (const [deed, act] of Object.entries(deeds).filter(([deed]) => asked.includes(deed))) {
    let line
    try {
      line = await act()
    } catch (problem) {
      line = { error: String(problem?.stack ?? problem), sqlstate: (problem?.cause ?? problem)?.code ?? '' }
    }
    console.log(JSON.stringify({ deed, ...line }))
  }
}

// refused returns the error of a promise that must be rejected.
export async function refused(promise) {
  try {
    await promise
  } catch (problem) {
    return { name: problem.name, sqlstate: problem.code, severity: problem.severity, text: problem.message }
  }
  return 'no error'
}

export const none = why => async () => ({ none: why })

// fromPool draws 100 IDs: four borrowers draw 25 each at the same time. draw() borrows a connection from the pool.
export async function fromPool(draw) {
  const drawn = await Promise.all([1, 2, 3, 4].map(async () => {
    const ids = []
    while (ids.length < 25) ids.push(await draw())
    return ids
  }))
  return { ids: drawn.flat().map(String) }
}

// inParallel draws 1,000 IDs on each of four connections. draw(n) opens one and returns n IDs in the order they came.
export async function inParallel(draw) {
  const drawn = await Promise.all([1, 2, 3, 4].map(() => draw(1000)))
  return { ids: drawn.flat().map(String) }
}
