// Runs the code of docs/json.md: blocks as a JSON array on standard input. A comment "// => VALUE" behind an expression
// is what it must give, or the error that it must throw. What a block declares stays for the later ones.
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import vm from 'node:vm'
import pg from 'pg'

const context = vm.createContext({ pg, Response, postgres: { BigInt } })
let compared = 0

async function valueOf(code) {
  try {
    return inspect(await vm.runInContext(code, context), { breakLength: Infinity })
  } catch (problem) {
    return `${problem.name}: ${problem.message}`
  }
}

for (const block of JSON.parse(readFileSync(0, 'utf8'))) {
  let code = ''
  for (const line of block.split('\n')) {
    const [, expression, value] = line.match(/^(.*\S)\s+\/\/ => (.*)$/) ?? [null, line, null]
    code += `${expression}\n`
    if (value === null) continue
    const got = await valueOf(code)
    if (got !== value) throw new Error(`${code}gives ${got}; the page says ${value}`)
    compared++
    code = ''
  }
  vm.runInContext(code, context)
}
console.log(`${compared} values compared`)
