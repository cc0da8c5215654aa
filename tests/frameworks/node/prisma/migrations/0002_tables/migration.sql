CREATE TABLE "author" (
    "id" BIGINT NOT NULL DEFAULT next_snowflake(),
    "name" TEXT NOT NULL,

    CONSTRAINT "author_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "book" (
    "id" BIGINT NOT NULL DEFAULT next_snowflake(),
    "title" TEXT NOT NULL,
    "author_id" BIGINT NOT NULL,

    CONSTRAINT "book_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "book" ADD CONSTRAINT "book_author_id_fkey" FOREIGN KEY ("author_id")
    REFERENCES "author"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
