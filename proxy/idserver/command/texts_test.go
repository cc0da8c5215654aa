package command_test

// texts are texts that this package reads exactly as PostgreSQL does: tags, labels, types and bytes. The texts of one
// line are one conversation.
var texts = [][]string{
	{"SELECT 1", "select 1;", "SELECT -1, - 2, 007, 2147483647, 2147483648, -2147483648, 9223372036854775807"},
	{
		"SELECT 'x', 'a''b' AS \"q\"\"uote\", E'\\u00e9\\n', $$a'b$$, 'a'\n'b' c",
		"SELECT NULL, NULL AS n, -9223372036854775808",
	},
	{"SELECT true, false t", "SELECT 1+1 AS result", "SELECT 1 + 2 + -4, 2147483648+1"},
	{"VALUES (1)", "values (1, 'x', NULL)"},
	{"SELECT version()", "SELECT pg_catalog.version() AS v, \"version\"(), pg_catalog.\"version\"()"},
	{"SELECT current_database(), current_catalog, current_schema, current_schema(), pg_catalog.current_schema()"},
	{"SELECT current_user, session_user, user, current_role, user u, USER usr"},
	{"SELECT pg_backend_pid(), pg_is_in_recovery(), pg_advisory_unlock_all()", "SELECT * FROM current_schema()"},
	{"SELECT current_setting('server_version'), current_setting('no.such', true)", "SELECT current_setting(NULL)"},
	{"SELECT current_setting('DateStyle', NULL)"},
	{"SELECT set_config('application_name', 'x', false), set_config('application_name', NULL, 'f')"},
	{
		"SELECT current_setting($1), set_config($2, $3, $4)", "SELECT current_setting($1, $2)",
		"SELECT current_setting($1), current_setting($1)", "SELECT current_setting($2)",
	},
	{"SELECT 1 is, 2 value, 3 AS from, 4 \"select\", 'x' name, NULL left, version() overriding"},

	{"", ";", " ; -- x\n;", "/* DBD::Pg ping */"},
	{"SELECT 1; SELECT 'x'; SELECT version()", "BEGIN; SELECT 1; COMMIT"},
	{"SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;"},
	{
		"BEGIN", "COMMIT", "begin work", "end work", "BEGIN TRANSACTION", "END TRANSACTION", "start transaction",
		"abort",
	},
	{
		"BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE", "ROLLBACK",
		"START TRANSACTION READ WRITE ISOLATION LEVEL READ COMMITTED NOT DEFERRABLE", "ROLLBACK WORK",
		"BEGIN ISOLATION LEVEL READ UNCOMMITTED", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"ABORT TRANSACTION",
	},
	{
		"BEGIN", "SAVEPOINT a", "SAVEPOINT \"B\"", "ROLLBACK TO a", "ROLLBACK TRANSACTION TO SAVEPOINT a", "RELEASE a",
		"SAVEPOINT savepoint", "ROLLBACK TO SAVEPOINT savepoint", "ROLLBACK TO savepoint",
		"RELEASE SAVEPOINT savepoint",
		"SET TRANSACTION READ ONLY", "SET LOCAL statement_timeout TO 5", "COMMIT",
	},
	{
		"SET application_name = 'a'", "SET SESSION statement_timeout TO '5s'", "SET search_path TO \"$user\", public",
		"SET search_path = 'a', b, \"C d\"", "SET client_encoding TO UTF8", "SET NAMES 'UTF8'", "SET NAMES",
		"SET NAMES DEFAULT",
		"SET TIME ZONE 'UTC'", "SET TIME ZONE UTC", "SET TIME ZONE LOCAL", "SET TIME ZONE DEFAULT",
		"SET TIME ZONE -3.5",
		"SET TIME ZONE +3", "SET TIME ZONE \"UTC\"", "SET extra_float_digits = 3", "SET DateStyle=ISO, MDY",
		"SET standard_conforming_strings = on", "SET my.setting = off", "SET extra_float_digits =-1",
		"SET geqo_selection_bias = 1.75", "SET jit TO true", "SET jit TO DEFAULT", "SET SCHEMA 'public'",
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE", "SET ROLE NONE",
		"SET SESSION AUTHORIZATION DEFAULT", "SET role = none", "SET ROLE 'none'",
		"SET client_min_messages TO warning",
		"RESET application_name", "RESET TIME ZONE", "RESET TRANSACTION ISOLATION LEVEL",
		"RESET SESSION AUTHORIZATION",
		"RESET my.setting", "RESET ROLE", "RESET ALL",
	},
	{
		"SHOW server_version", "SHOW TIME ZONE", "SHOW TRANSACTION ISOLATION LEVEL", "SHOW SESSION AUTHORIZATION",
		"SHOW standard_conforming_strings", "SHOW transaction_read_only", "SHOW \"application_name\"", "SHOW ALL",
	},
	{"DISCARD PLANS", "DISCARD TEMP", "DISCARD TEMPORARY", "DISCARD SEQUENCES", "DISCARD ALL"},
	{
		"BEGIN", "DECLARE c CURSOR FOR SELECT 1", "FETCH c", "FETCH ALL FROM c", "FETCH NEXT FROM c", "CLOSE c",
		"DECLARE c NO SCROLL CURSOR WITHOUT HOLD FOR SELECT 'x'", "FETCH FORWARD 2 IN c", "CLOSE ALL",
		"DECLARE c ASENSITIVE CURSOR FOR SELECT 5", "FETCH +1 c", "CLOSE ALL",
		"DECLARE next INSENSITIVE CURSOR WITH HOLD FOR SELECT 7", "FETCH next",
		"COMMIT",
		"FETCH FORWARD next", "FETCH FORWARD FROM next", "FETCH ALL next", "FETCH FORWARD ALL next", "CLOSE next",
	},
	{"UNLISTEN *", "UNLISTEN x", "UNLISTEN \"X\""},
	{
		"SELECT next_snowflake()",
		"SELECT next_snowflake()::text a, public.next_snowflake() FROM generate_series(1, $1)",
		"SELECT * FROM next_snowflakes($1)", "SELECT * FROM next_snowflakes(3) AS t(id)",
		"SELECT pgflurry.next_segment($1)", "SELECT * FROM pgflurry.next_segments($1, $2)",
		"SELECT pgflurry.next_segment($1) n FROM generate_series(1, $2)", "SELECT pgflurry.next_segment('a')",
	},
}
