# ActiveRecord over ruby-pg, with the tasks of Rails.
require 'active_record'
require 'json'
require 'open3'
require_relative 'models'

# The development database, or the test one.
def connect(database = ENV.fetch('PGDATABASE'))
  ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: database)
end

# rake runs one of the application's tasks. Its structure.sql is in the scratch folder.
def rake(task, **more)
  environment = { 'SCHEMA' => File.join(ENV.fetch('FRAMEWORK_SCRATCH'), 'structure.sql') }
  said, status = Open3.capture2e(environment.merge(more), 'rake', '-f', File.join(__dir__, 'Rakefile'), task)
  raise "rake #{task}: #{said}" unless status.success?
end

def migrate
  rake('db:migrate')
  {}
end

def insert
  { ids: [Author.create!(name: 'Ada').id] }
end

def batch
  # snippet: batch
  ids = Author.insert_all(Array.new(1000) { |n| { name: "author #{n}" } }).rows.flatten
  # snippet: end
  { ids: ids }
end

# snippet: draw
# IDs before there are rows. The proxy answers this statement from memory.
def draw(number)
  ActiveRecord::Base.connection.select_values("SELECT * FROM next_snowflakes(#{Integer(number)})")
end
# snippet: end

def ahead
  # snippet: ahead
  ids = draw(1000)
  Author.insert_all(ids.map.with_index { |id, n| { id: id, name: "author #{n}" } })
  # snippet: end
  { ids: ids }
end

def foreign_key
  author = Author.create!(name: 'Ada', books: [Book.new(title: 'Notes'), Book.new(title: 'Letters')])
  { ids: [author.id, *author.books.map(&:id)] }
end

def test_database
  name = "#{ENV.fetch('PGDATABASE')}_test"
  connect('postgres')
  ActiveRecord::Base.connection.execute("CREATE DATABASE #{name}") # db:test:prepare expects one
  rake('db:test:prepare')
  connect(name)
  id = Author.create!(name: 'Ada').id
  connect('postgres')
  ActiveRecord::Base.connection.execute("DROP DATABASE #{name}")
  { result: 'rake db:test:prepare', ids: [id] }
end

if ARGV == ['version']
  require 'rails/version'
  puts ActiveRecord.version
else
  deed = ENV.fetch('CLIENT_DEEDS')
  connect
  line = begin
    send(deed)
  rescue StandardError => e
    { error: "#{e.class}: #{e.message}" }
  end
  line[:ids] = line[:ids].map(&:to_s) if line[:ids]
  puts JSON.generate({ deed: deed, **line })
end
