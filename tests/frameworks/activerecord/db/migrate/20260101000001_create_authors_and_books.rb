# snippet: tables
class CreateAuthorsAndBooks < ActiveRecord::Migration[6.1]
  def change
    create_table :author, id: :bigint, default: -> { 'next_snowflake()' } do |t|
      t.text :name, null: false
    end
    create_table :book, id: :bigint, default: -> { 'next_snowflake()' } do |t|
      t.references :author, null: false, foreign_key: { to_table: :author }
      t.text :title, null: false
    end
  end
end
# snippet: end
