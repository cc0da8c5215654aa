-- name: CreateAuthor :one
INSERT INTO author (name) VALUES ($1) RETURNING id;

-- name: CreateBook :one
INSERT INTO book (author_id, title) VALUES ($1, $2) RETURNING id;

-- name: CreateAuthors :many
INSERT INTO author (name) SELECT unnest(@names::text[]) RETURNING id;

-- name: CreateDrawnAuthors :copyfrom
INSERT INTO author (id, name) VALUES ($1, $2);
