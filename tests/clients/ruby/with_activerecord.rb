# ActiveRecord connects and draws an ID, without a model.
require 'active_record'
require 'json'

if ARGV[0] == 'version'
  puts ActiveRecord.version
  exit
end
$stderr = File.open(File::NULL, 'w') # it warns that it treats an int8 as a string if it cannot read types
ActiveRecord::Base.establish_connection(
  adapter: 'postgresql', host: ENV['PGHOST'], port: ENV['PGPORT'], database: ENV['PGDATABASE'],
  username: ENV['PGUSER'], password: ENV['PGPASSWORD']
)
id = ActiveRecord::Base.connection.select_value('SELECT next_snowflake()')
puts JSON.generate(deed: 'unprepared', ids: [id.to_s])
