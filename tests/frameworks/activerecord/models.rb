# The key needs no word: the DEFAULT makes it, and ActiveRecord reads it with RETURNING.
class Author < ActiveRecord::Base
  self.table_name = 'author'
  has_many :books
end

class Book < ActiveRecord::Base
  self.table_name = 'book'
  belongs_to :author
end
