# ruby-pg, the gem "pg".
require 'json'
require 'pg'

BARE = ENV.key?('CLIENT_BARE') # the database has no tables
PLACE = {}.freeze # host and the rest come from PGHOST and its like
ASLEEP = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()".freeze

def connect(**more)
  connection = PG.connect(PLACE.merge(more))
  return connection unless block_given?

  begin
    yield connection
  ensure
    connection.finish
  end
end

# refused returns the error of a block that must raise one.
def refused
  yield
  'no error'
rescue PG::Error => e
  [e.class.name, e.result&.error_field(PG::Result::PG_DIAG_SQLSTATE), e.message]
end

def draw(connection) = connection.exec('SELECT next_snowflake()').getvalue(0, 0)

def login(role, **more)
  user = connect(user: role, password: 'right', **more) { |c| c.exec('SELECT current_user').getvalue(0, 0) }
  { result: [user, refused { connect(user: role, password: 'wrong', **more) }] }
end

def unprepared
  connect do |c|
    simple = c.exec('SELECT next_snowflake()')
    extended = c.exec_params('SELECT next_snowflake()', [], 1)
    described = [simple, extended].map do |r|
      [r.fname(0), r.ftype(0), r.fsize(0), r.fmod(0), r.fformat(0), r.cmd_status]
    end
    { result: described, ids: [simple.getvalue(0, 0), extended.getvalue(0, 0).unpack1('q>').to_s] }
  end
end

def prepared
  connect do |c|
    c.prepare('draw', 'SELECT next_snowflake() AS id')
    described = c.describe_prepared('draw')
    ids = Array.new(20) { c.exec_prepared('draw').getvalue(0, 0) }
    { result: [described.fname(0), described.ftype(0), described.nparams], ids: ids }
  end
end

# snippet: begin
# All the IDs in one round trip.
def draw_all(connection, number)
  connection.enter_pipeline_mode
  number.times { connection.send_query_params('SELECT next_snowflake()', []) }
  connection.pipeline_sync
  ids = Array.new(number) do
    id = connection.get_result.check.getvalue(0, 0)
    connection.get_result # nil: the end of this query
    id
  end
  connection.get_result # of the sync
  connection.exit_pipeline_mode
  ids
end

# The rows that use them in another.
def order_with_lines(connection, lines)
  ids = draw_all(connection, lines.size)
  encode = ->(values) { PG::TextEncoder::Array.new.encode(values) }
  insert = 'INSERT INTO item (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])'
  connection.exec_params(insert, [encode[ids], encode[lines]])
  ids
end
# snippet: end

def pipeline
  connect do |c|
    next { ids: draw_all(c, 50) } if BARE

    ids = order_with_lines(c, Array.new(50) { |n| "line #{n}" })
    { result: c.exec('SELECT array_agg(name ORDER BY id) FROM item').getvalue(0, 0), ids: ids }
  end
end

def mixed
  connect do |c|
    c.enter_pipeline_mode
    20.times do |n|
      c.send_query_params('SELECT next_snowflake()', [])
      c.send_query_params("SELECT set_config('client.n', $1, true)", [n.to_s])
    end
    c.pipeline_sync
    values = Array.new(40) do
      value = c.get_result.check.getvalue(0, 0)
      c.get_result
      value
    end
    c.get_result
    ids, numbers = values.partition.with_index { |_, n| n.even? }
    { result: numbers, ids: ids }
  end
end

def transaction
  connect do |c|
    count = 'SELECT count(*) FROM item WHERE id = $1'
    c.exec('BEGIN')
    first = draw(c)
    inside = c.transaction_status
    tag = c.exec_params("INSERT INTO item (id, name) VALUES ($1, 'gone')", [first]).cmd_status
    seen = c.exec_params(count, [first]).getvalue(0, 0)
    c.exec('ROLLBACK')
    left = c.exec_params(count, [first]).getvalue(0, 0)
    c.exec('BEGIN')
    zero = refused { c.exec('SELECT 1/0') }
    failed = refused { draw(c) }
    ended = c.exec('COMMIT').cmd_status
    { result: [inside, tag, seen, left, zero, failed, ended], ids: [first, draw(c)] }
  end
end

def commit
  connect do |c|
    failed = nil
    ids = %w[COMMIT ROLLBACK FAIL].map do |ending|
      c.exec('BEGIN')
      id = draw(c)
      if ending == 'FAIL'
        refused { c.exec('SELECT 1/0') }
        failed = refused { draw(c) }
      end
      c.exec(ending == 'COMMIT' ? ending : 'ROLLBACK')
      id
    end
    { result: failed, ids: ids << draw(c) }
  end
end

def copy
  connect do |c|
    c.exec('TRUNCATE item')
    done = c.copy_data('COPY item (name) FROM STDIN') { %w[one two].each { |name| c.put_copy_data("#{name}\n") } }
    rows = []
    c.copy_data('COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT') do
      while (row = c.get_copy_data)
        rows << row.chomp.split("\t")
      end
    end
    { result: [done.cmd_status, rows.map(&:last)], ids: rows.map(&:first) << draw(c) }
  end
end

def notify
  connect do |listener|
    listener.exec('LISTEN news')
    id = draw(listener)
    connect { |sender| sender.exec("NOTIFY news, 'hello'") }
    heard = nil
    listener.wait_for_notify { |channel, _, payload| heard = [channel, payload] }
    { result: heard, ids: [id] }
  end
end

def cancel
  connect do |sleeper|
    sleeper.send_query('SELECT pg_sleep(60)')
    connect { |other| nil until other.exec(ASLEEP).getvalue(0, 0) == '1' }
    sleeper.cancel
    said = refused { sleeper.get_last_result }
    { result: said, ids: [draw(sleeper)] }
  end
end

def by_default
  connect do |c|
    inserted = c.exec_params('INSERT INTO item (name) VALUES ($1) RETURNING id', ['new'])
    { result: inserted.cmd_status, ids: [inserted.getvalue(0, 0)] }
  end
end

def parallel
  threads = Array.new(4) { Thread.new { connect { |c| Array.new(1000) { draw(c) } } } }
  { ids: threads.flat_map(&:value) }
end

if ARGV.any?
  puts "#{PG::VERSION} (libpq #{PG.library_version.divmod(10_000).join('.')})"
  exit
end
$stdout.sync = true
deeds = {
  password: -> { login('client_password') },
  scram: -> { login(ENV.fetch('CLIENT_ROLE')) },
  tls: -> { login(ENV.fetch('CLIENT_ROLE'), sslmode: 'verify-full', sslrootcert: ENV.fetch('CLIENT_CA')) },
  unprepared: -> { unprepared }, prepared: -> { prepared }, pipeline: -> { pipeline }, mixed: -> { mixed },
  transaction: -> { transaction }, commit: -> { commit }, copy: -> { copy }, notify: -> { notify },
  cancel: -> { cancel }, default: -> { by_default }, pool: -> { { none: 'ruby-pg has no pool' } },
  parallel: -> { parallel },
}
asked = ENV.fetch('CLIENT_DEEDS').split
deeds.each do |deed, act|
  next unless asked.include?(deed.to_s)

  line = begin
    act.call
  rescue StandardError => e
    { error: e.full_message(highlight: false), sqlstate: '' }
  end
  puts JSON.generate({ deed: deed }.merge(line))
end
