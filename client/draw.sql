SELECT * FROM next_snowflakes($1)
