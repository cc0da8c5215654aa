-- +goose Up
CREATE TABLE author (
    id   bigint PRIMARY KEY DEFAULT next_snowflake(),
    name text   NOT NULL
);

CREATE TABLE book (
    id        bigint PRIMARY KEY DEFAULT next_snowflake(),
    author_id bigint NOT NULL REFERENCES author,
    title     text   NOT NULL
);
