import { readFileSync } from 'node:fs'
const file = process.env.FRAMEWORK_MIGRATION

// snippet: pgflurry
// The file is the output of "pgflurry migrate print". No replacements and no bind: the text goes as it is.
export const up = queryInterface => queryInterface.sequelize.query(readFileSync(file, 'utf8'))
// snippet: end
