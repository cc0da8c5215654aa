package session

import "testing"

func TestACommandThatIsPrintedNamesTheDatabaseThatItSaysAndNoPassword(t *testing.T) {
	for given, want := range map[string][3]string{
		"postgres://me:s3cret@h:1/app?sslmode=disable": {
			"'postgres://me@h:1/app?sslmode=disable'", "'postgres://me@db:2/shop?sslmode=disable'",
			"'postgres://me@h:1/a/b?sslmode=disable'",
		},
		"postgres:///app?host=/run/pg&port=5&user=me&password=s3cret": {
			"'postgres:///app?host=/run/pg&port=5&user=me'", "'postgres://db:2/shop?user=me'",
			"'postgres:///a/b?host=/run/pg&port=5&user=me'",
		},
		"postgres://me@h:1?dbname=app": {
			"'postgres://me@h:1?dbname=app'", "postgres://me@db:2/shop", "postgres://me@h:1/a/b",
		},
		"host=h password=s3cret dbname=app": {"URL", "HOME", "BESIDE"},
	} {
		g := givenAs(given)
		got := [3]string{g.Or("URL"), g.At("db:2/shop").Or("HOME"), g.Beside("a/b").Or("BESIDE")}
		if got != want {
			t.Errorf("%s gives %q; expected %q", given, got, want)
		}
	}
}

func TestCommandsHaveTheOperatorsURLWithoutItsPassword(t *testing.T) {
	const text = "Run: pgflurry migrate up --database URL --home HOME"
	for url, want := range map[string]string{
		"postgres://me:s3@db/app?password=x": "Run: pgflurry migrate up --database postgres://me@db/app --home HOME",
		"host=db password=s3cret":            text,
		"":                                   text,
	} {
		if got := InCommands(text, url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
