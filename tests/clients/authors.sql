CREATE TABLE author (id bigint DEFAULT next_snowflake() PRIMARY KEY, name text);
CREATE TABLE book (id bigint DEFAULT next_snowflake() PRIMARY KEY, author_id bigint REFERENCES author, title text);
INSERT INTO author VALUES (330678927360028673, 'Ada');
INSERT INTO book VALUES (330678927360028673, 330678927360028673, 'Notes');
