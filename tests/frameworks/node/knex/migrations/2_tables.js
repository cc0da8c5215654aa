// snippet: tables
export async function up(knex) {
  const id = table => table.bigInteger('id').primary().defaultTo(knex.raw('next_snowflake()'))
  await knex.schema.createTable('author', table => {
    id(table)
    table.text('name').notNullable()
  })
  await knex.schema.createTable('book', table => {
    id(table)
    table.bigInteger('author_id').notNullable().references('author.id')
    table.text('title').notNullable()
  })
}
// snippet: end

export const down = knex => knex.schema.dropTable('book').dropTable('author')
