// The report of the programs that show what a driver makes of an ID: a line of JSON for each driver.
//
//	driver    its name
//	version   its version
//	bigint    the type and text of the ID in a column
//	row       what JSON.stringify makes of the row, or its error; null where there is no document
//	document  the type and text of the ID within to_jsonb(row)

// seen describes a value: its type and its text.
export const seen = value => ({ type: typeof value === 'bigint' ? 'BigInt' : typeof value, text: String(value) })

// written is a row as JSON.
function written(row) {
  try {
    return JSON.stringify(row)
  } catch (problem) {
    return `${problem.name}: ${problem.message}`
  }
}

// tell prints a line. row has the key id. document is the driver's value of to_jsonb(row), or null for nested rows.
export function tell(driver, version, row, document) {
  console.log(JSON.stringify({
    driver, version, bigint: seen(row.id), row: document && written(row), document: document && seen(document.id),
  }))
}
