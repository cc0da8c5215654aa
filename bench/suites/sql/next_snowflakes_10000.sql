SELECT * FROM next_snowflakes(10000);
