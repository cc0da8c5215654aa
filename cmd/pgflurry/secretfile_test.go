package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgflurry/internal/config/source"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestEveryFlagThatTakesAConnectionStringIsASecret(t *testing.T) {
	var found []string
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(f.Usage, "connection string") && !slices.Contains(found, f.Name) {
				found = append(found, f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	for _, c := range urlFlags {
		if !slices.Contains(found, c.flag) {
			found = append(found, c.flag)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, secrets()) {
		t.Errorf("connection strings are taken by %v, but the secrets are %v", found, secrets())
	}
}

// secrets are the names of all flags that are secret.
func secrets() (names []string) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if source.Has(f, source.Secret) {
				names = append(names, f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	slices.Sort(names)
	return slices.Compact(names)
}

func TestASecretStandsInAFileThatAVariableOrAKeyNames(t *testing.T) {
	const url = "postgres://u:s3cret@127.0.0.1:1/d"
	secret := written(t, "url", url+"\n")
	t.Run("a variable", func(t *testing.T) {
		t.Setenv("PGFLURRY_LEASE_DATABASE_FILE", secret)
		cmd, errs, err := environment(t, "serve", "PGFLURRY_LEASE_DATABASE_FILE="+secret)
		if got := cmd.Flag("lease-database").Value.String(); got != url || errs != "" || err != nil {
			t.Errorf("%q, %s, %v", got, errs, err)
		}
	})
	t.Run("each secret", func(t *testing.T) {
		for _, c := range urlFlags {
			path := strings.Join(slices.DeleteFunc(strings.Fields(c.command), func(word string) bool {
				return !slices.Contains([]string{
					"serve", "demo", "migrate", "namespace", "join", "up", "down", "status", "workers", "list",
					"history", "retire", "reseed", "decode", "clients", "add", "remove", "expire",
				}, word)
			}), " ")
			cmd, errs, err := environment(t, path, source.Variable(c.flag)+source.VariableOfFile+"="+secret)
			if got := cmd.Flag(c.flag).Value.String(); c.flag != "home" && (got != url || errs != "" || err != nil) {
				t.Errorf("%s --%s: %q, %s, %v", path, c.flag, got, errs, err)
			} else if c.flag == "home" && (got != "" || err == nil) {
				t.Errorf("consent was taken from a file: %q, %v", got, err)
			}
		}
	})
	t.Run("a key", func(t *testing.T) {
		text, err := checked(t, "upstream = \"h:1\"\nlease-database-file = \""+secret+"\"\n")
		if err != nil || leaks(text) || !strings.Contains(inOneSpace(text),
			"lease-database (not shown) the file of key lease-database-file in line 2 of FILE") {
			t.Errorf("%v: %s", err, text)
		}
	})
	t.Run("a variable before a key", func(t *testing.T) {
		t.Setenv("PGFLURRY_LEASE_DATABASE_FILE", secret)
		text, err := checked(t, "upstream = \"h:1\"\nlease-database-file = \"/none\"\n")
		if err != nil || !strings.Contains(text, "the file of environment variable PGFLURRY_LEASE_DATABASE_FILE") {
			t.Errorf("%v: %s", err, text)
		}
	})
}

func TestAFileNamedByAVariableThatCannotBeUsedSaysWhyAndNothingOfIt(t *testing.T) {
	for name, c := range map[string]struct{ file, says string }{
		"missing":     {filepath.Join(t.TempDir(), "none"), "no such file"},
		"empty":       {written(t, "a", "\n"), "is empty; expected the value in it"},
		"too large":   {written(t, "b", strings.Repeat("s3cret", 64<<10)), "it is larger than 64 kB"},
		"a folder":    {t.TempDir(), "is a directory"},
		"the value":   {"postgres://u:s3cret@h/d", "not repeated here"},
		"no URL":      {written(t, "c", "owner:s3 cret@h"), "--lease-database is not a connection string"},
		"two of them": {written(t, "d", "postgres://u@h/d\npostgres://u:s3cret@h/d"), "--lease-database is not"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PGFLURRY_LEASE_DATABASE_FILE", c.file)
			text, err := said(t, "serve", "--upstream", "h:1", "--check-config")
			if err == nil || !strings.Contains(text, c.says) || leaks(text) ||
				!strings.Contains(text, "PGFLURRY_LEASE_DATABASE_FILE") || strings.Contains(text, "is missing") {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
	t.Run("both", func(t *testing.T) {
		t.Setenv("PGFLURRY_LEASE_DATABASE_FILE", "/x")
		t.Setenv("PGFLURRY_LEASE_DATABASE", "postgres://u:s3cret@h/d")
		text, err := said(t, "serve", "--upstream", "h:1", "--check-config")
		if err == nil || !strings.Contains(text, "are both set; expected one of them") || leaks(text) {
			t.Errorf("%v: %s", err, text)
		}
	})
	t.Run("both keys", func(t *testing.T) {
		text, err := checked(t, "lease-database = \"postgres://u:s3cret@h/d\"\nlease-database-file = \"/x\"")
		if err == nil || !strings.Contains(text, "are both set; expected one of them") || leaks(text) {
			t.Errorf("%v: %s", err, text)
		}
	})
}

func TestNoNewlineAtTheEndOfASecretIsPartOfIt(t *testing.T) {
	const url = "postgres://u:s3cret@127.0.0.1:1/d"
	for _, end := range []string{"", "\n", "\r\n", "\n\n", "\r\n\r\n"} {
		if got, err := source.ReadSecret(written(t, "url", url+end), "x"); got != url || err != nil {
			t.Errorf("ended by %q: %q, %v", end, got, err)
		}
	}
}
