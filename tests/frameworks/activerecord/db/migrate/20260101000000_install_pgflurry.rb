# snippet: pgflurry
class InstallPgflurry < ActiveRecord::Migration[6.1]
  def up
    execute File.read(ENV.fetch('FRAMEWORK_MIGRATION')) # what "pgflurry migrate print" wrote
  end
end
# snippet: end
