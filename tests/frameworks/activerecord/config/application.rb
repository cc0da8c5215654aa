# The least that a Rails application needs for its database.
require 'rails'
require 'active_record/railtie'

module Shop
  class Application < Rails::Application
    config.root = File.expand_path('..', __dir__)
    config.eager_load = false
    config.logger = Logger.new(nil)
    # snippet: structure
    config.active_record.schema_format = :sql # schema.rb would leave pgflurry's functions out
    # snippet: end
  end
end
