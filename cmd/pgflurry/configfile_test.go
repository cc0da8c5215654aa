package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written writes a temporary file with this content.
func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checked returns the output of --check-config for a configuration file and these flags.
func checked(t *testing.T, content string, args ...string) (string, error) {
	t.Helper()
	path := written(t, "pgflurry.toml", content)
	text, err := said(t, append([]string{"serve", "--check-config", "--config", path}, args...)...)
	return strings.ReplaceAll(text, path, "FILE"), err
}

// inOneSpace reduces the space between columns to one blank.
func inOneSpace(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

const goodFile = `
# what serve needs
upstream = "127.0.0.1:1"
"lease-database" = "postgres://u:s3cret@127.0.0.1:1/d"
window = "45s"
databases = ["app", "reports"]
max-connections = 100
datacenter = 3
`

func TestAFlagWinsOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	t.Setenv("PGFLURRY_WINDOW", "50s")
	t.Setenv("PGFLURRY_MAX_CONNECTIONS", "200")
	text, err := checked(t, goodFile, "--max-connections", "300")
	text = inOneSpace(text)
	if err != nil || leaks(text) {
		t.Fatalf("%v: %s", err, text)
	}
	for _, line := range []string{
		"configuration is good",
		"max-connections 300 command line",
		"window 50s environment variable PGFLURRY_WINDOW",
		"databases [app,reports] key databases in line 6 of FILE",
		"datacenter 3 key datacenter in line 8 of FILE",
		"lease-database (not shown) key lease-database in line 4 of FILE",
		"drain-timeout 30s default",
	} {
		if !strings.Contains(text, "\n"+line+"\n") && !strings.HasPrefix(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestTheFileMayBeNamedByAVariable(t *testing.T) {
	t.Setenv("PGFLURRY_CONFIG", written(t, "x.toml", goodFile))
	if text, err := said(t, "serve", "--check-config"); err != nil || !strings.Contains(text, "configuration is good") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestWhatIsWrongWithAFileIsReportedWithItsLine(t *testing.T) {
	for content, says := range map[string]string{
		"windw = \"60s\"":                  "is the name of no flag\nhint: Did you mean window?",
		"\nmax_connections = 1":            "hint: Did you mean max-connections?",
		"lease-database-fil = \"x\"":       "Did you mean lease-database-file?",
		"frobnicate = 1":                   `see "pgflurry serve --help"`,
		"help = true":                      `key "help" in line 1 of FILE is the name of no flag`,
		"config = \"other.toml\"":          "key config in line 1 of FILE names another file",
		"check-config = true":              "--check-config is for one look and is taken from the command line only",
		"[proxy]\nwindow = \"60s\"":        `"proxy" in line 1 of FILE is a table, but the configuration file is flat`,
		"proxy.window = \"60s\"":           `"proxy" in line 1 of FILE is a table`,
		"\n[[proxy]]":                      `"proxy" in line 2 of FILE is a table`,
		"window = 60":                      `key window in line 1 of FILE is a number; expected a duration in quotes,`,
		"max-connections = \"100\"":        "is a text; expected a whole number without quotes",
		"databases = \"app\"":              `is a text; expected a list, such as ["app", "reports"]`,
		"databases = [\"app\", 3]":         "has a number in it; expected names in quotes",
		"databases = [\"\"]":               "--databases has an empty name",
		"node = 3":                         "is a number; expected a text in quotes",
		"node = 1979-05-27":                "is a date or a time; expected a text in quotes",
		"window = \"long\"":                `key window in line 1 of FILE is "long", which --window does not take; exp`,
		"window = \"10ms\"":                "1s to 24h0m0s (--window is from key window in line 1 of FILE)",
		"window =":                         "line 1 of FILE, at column 8, is not TOML",
		"window = \"1s\"\nwindow = \"2s\"": "line 2 of FILE",
		"lease-database-file = 3":          "is a number; expected the name of a file in quotes",
	} {
		text, err := checked(t, content, "--lease-database", "postgres://u@127.0.0.1:1/d", "--upstream", "h:1")
		if err == nil || !strings.Contains(text, says) {
			t.Errorf("%q: expected %q in\n%s", content, says, text)
		}
	}
}

func TestAFileThatCannotBeReadIsNamed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.toml")
	text, err := said(t, "serve", "--check-config", "--config", missing)
	if err == nil || !strings.Contains(text, missing) || !strings.Contains(text, "no such file") {
		t.Errorf("%v: %s", err, text)
	}
	if strings.Contains(text, "--upstream is missing") {
		t.Errorf("what the file would have given is missed too: %s", text)
	}
	text, err = checked(t, strings.Repeat("# more than anybody writes\n", (1<<20)/20))
	if err == nil || !strings.Contains(text, "larger than 1 MB") {
		t.Errorf("%v: %.200s", err, text)
	}
}

func TestNoPieceOfAPasswordInAFileIsPrinted(t *testing.T) {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, url := range broken {
		for _, line := range []string{
			`lease-database = "` + quoted.Replace(url) + `"`,
			`lease-database = ` + url,
			`lease-database = "` + quoted.Replace(url),
			`"` + quoted.Replace(url) + `" = 1`,
			quoted.Replace(url) + ` = 1`,
			url,
			`lease-database.` + url + ` = 1`,
			`databases = ["` + quoted.Replace(url) + `"]`,
			`databases = [` + url + `]`,
			`max-connections = "` + quoted.Replace(url) + `"`,
			`window = "` + quoted.Replace(url) + `"`,
			`config = "` + quoted.Replace(url) + `"`,
			`lease-database-file = "` + quoted.Replace(url) + `"`,
			"lease-database = 0x" + url,
			"lease-database = 1." + url,
		} {
			text, err := checked(t, line+"\n")
			if err == nil || leaks(text) {
				t.Errorf("%s (%v):\n%s", line, err, text)
			}
		}
		if text, err := said(t, "serve", "--check-config", "--config", url); err == nil || leaks(text) {
			t.Errorf("--config %s (%v):\n%s", url, err, text)
		}
	}
}

func TestAllThatIsWrongIsReportedAtOnce(t *testing.T) {
	t.Setenv("PGFLURRY_DRAIN_TIMEOUT", "soon")
	text, err := checked(t, `
windw = "60s"
log-level = "loud"
client-tls-cert = "/none/cert.pem"
client-tls-key = "/none/key.pem"
upstream-tls = "verify-full"
`, "--max-connections", "many", "--login-timeout", "1ns", "--databases", ",", "--client-auth", "password",
		"--max-logins", "-1")
	if err == nil {
		t.Fatal(text)
	}
	for _, says := range []string{
		"12 things are wrong with the configuration:",
		`--max-connections is "many"; expected a whole number`,
		`environment variable PGFLURRY_DRAIN_TIMEOUT is "soon", which --drain-timeout does not take`,
		`key "windw" in line 2 of FILE`, "    hint: Did you mean window?",
		"--upstream is missing", "--lease-database is missing",
		"--databases has an empty name",
		"--max-logins is -1",
		"--login-timeout is 1ns; expected at least 1ms",
		"--client-auth password needs --client-tls require",
		"--upstream-tls verify-full needs --upstream-tls-ca",
		"--client-tls-cert: open /none/cert.pem",
		`--log-level is "loud"`,
	} {
		if !strings.Contains(text, says) {
			t.Errorf("not reported: %s\n", says)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if text, err := said(t, "serve"); err == nil || !strings.Contains(text, "--upstream is missing") ||
		!strings.Contains(text, "--lease-database is missing") {
		t.Errorf("serve without flags: %s", text)
	}
}

func TestAValueThatIsNotTakenIsReportedOnce(t *testing.T) {
	text, err := said(t, "serve", "--window", "60", "--upstream", "127.0.0.1:1", "--lease-database", "postgres://h/d")
	if err == nil || strings.Contains(text, "0s; expected") ||
		!strings.Contains(text, `--window is "60"; expected a duration, such as 60s or 5m`) {
		t.Errorf("it says: %s", text)
	}
}

func TestWhatIsNoNumberIsReportedInPlainWords(t *testing.T) {
	for _, args := range [][]string{
		{"workers", "list", "--json=maybe"}, {"serve", "--window", "long"}, {"decode", "--unit", "x", "1"},
	} {
		if text, err := said(t, args...); err == nil || strings.Contains(text, "strconv") ||
			strings.Contains(text, "invalid") || !strings.Contains(text, "; expected ") {
			t.Errorf("%v: %s", args, text)
		}
	}
	t.Setenv("PGFLURRY_JSON", "maybe")
	if text, err := said(t, "workers", "list", "--database", "postgres://u@127.0.0.1:1/d"); err == nil ||
		!strings.Contains(text, `PGFLURRY_JSON is "maybe", which --json does not take; expected true or false`) {
		t.Errorf("%s", text)
	}
}
