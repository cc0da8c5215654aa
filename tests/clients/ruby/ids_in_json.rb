# What Ruby makes of an ID, in a column and in a document: see node/ids_in_json_report.js.
require 'json'
require 'pg'

seen = ->(value) { { type: value.class.name, text: value.to_s } }
connection = PG.connect
row = connection.exec('SELECT id FROM author').first
document = JSON.parse(connection.exec('SELECT to_jsonb(author) FROM author').getvalue(0, 0))
puts JSON.generate(driver: 'ruby-pg, JSON.parse', version: PG::VERSION, bigint: seen[row['id']],
                   row: JSON.generate(row), document: seen[document['id']])
