// What the section about Knex warns of.
export async function traps(knex) {
  const { rows } = await knex.raw('SELECT * FROM next_snowflakes(1000)')
  const ids = rows.map(row => row.next_snowflakes)
  return {
    'a bigint is a string': ids.every(id => typeof id === 'string'),
    'Number(id) rounds': new Set(ids.map(Number)).size < ids.length,
  }
}
