import { DataTypes } from 'sequelize'

// snippet: model
export function shop(sequelize) {
  const id = () => ({ type: DataTypes.BIGINT, primaryKey: true, defaultValue: sequelize.literal('next_snowflake()') })
  const text = () => ({ type: DataTypes.TEXT, allowNull: false })
  const Author = sequelize.define('author', { id: id(), name: text() }, { timestamps: false, freezeTableName: true })
  const Book = sequelize.define('book', { id: id(), title: text() }, { timestamps: false, freezeTableName: true })
  Author.hasMany(Book, { as: 'books', foreignKey: { name: 'author_id', allowNull: false } })
  return { Author, Book }
}
// snippet: end
