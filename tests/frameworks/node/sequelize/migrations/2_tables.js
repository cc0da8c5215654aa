import { DataTypes, literal } from 'sequelize'

// snippet: tables
const id = { type: DataTypes.BIGINT, primaryKey: true, defaultValue: literal('next_snowflake()') }
const text = { type: DataTypes.TEXT, allowNull: false }
const author_id = { type: DataTypes.BIGINT, allowNull: false, references: { model: 'author', key: 'id' } }

export async function up(queryInterface) {
  await queryInterface.createTable('author', { id, name: text })
  await queryInterface.createTable('book', { id, author_id, title: text })
}
// snippet: end
