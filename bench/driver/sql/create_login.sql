SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', $1::text, $2::text);
