// What the section about Sequelize warns of.
import { DataTypes } from 'sequelize'

export async function traps(sequelize) {
  const id = { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true }
  const counted = sequelize.define('counted', { id }, { timestamps: false, freezeTableName: true })
  await counted.sync()
  const { defaultValue } = (await sequelize.getQueryInterface().describeTable('counted')).id
  const present = sequelize.define('author', { id, name: DataTypes.TEXT }, { timestamps: false, freezeTableName: true })
  const author = await present.create({ name: 'Ada' })
  return {
    'autoIncrement works with a table that is there': BigInt(author.id) > 2n ** 53n,
    'sync() makes a BIGSERIAL of autoIncrement': defaultValue.startsWith('nextval'),
  }
}
