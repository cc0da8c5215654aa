package source

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// ConfigFlag names the configuration file.
const ConfigFlag = "config"

// largestConfig is how much a configuration file may hold, in bytes.
const largestConfig = 1 << 20

// A tomlFile is a configuration file: flat TOML, whose keys are the names of flags.
type tomlFile struct {
	name    string
	content string
}

// file reads the values of flags from the configuration file. c keeps every error in it.
func (c *Values) file(path string) place {
	content, err := readOnce(path, largestConfig)
	if err != nil {
		c.refuse(ConfigFlag, fmt.Errorf("--%s: the file %s cannot be read: %w",
			ConfigFlag, connect.Shown(path), err))
		return nil
	}
	file := tomlFile{name: path, content: string(content)}
	var keys map[string]any
	if err := toml.Unmarshal(content, &keys); err != nil {
		c.refuse(ConfigFlag, file.unreadable(err))
		return nil
	}
	values := make(place)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c.takeKey(values, file, key, keys)
	}
	return values
}

// takeKey reads the value of one key.
func (c *Values) takeKey(values place, file tomlFile, key string, keys map[string]any) {
	origin := "key " + key + " in " + file.place(key)
	if f := c.secretOf(key); f != nil {
		path, is := keys[key].(string)
		_, both := keys[f.Name]
		switch {
		case both:
			c.refuse(f.Name, twice("key "+f.Name, origin))
		case !is:
			c.refuse(f.Name, fmt.Errorf("%s is %s; expected the name of a file in quotes", origin, kindOf(keys[key])))
		case c.origins[f.Name] == "" && !c.failed[f.Name]:
			c.secret(values, f, path, origin)
		}
		return
	}
	f := c.flags.Lookup(key)
	if key == ConfigFlag {
		c.refuse(key, fmt.Errorf("%s names another file; expected that only --%s or %s names one",
			origin, key, Variable(key)))
		return
	}
	if f == nil || OwnFlag(f) {
		c.wrong = append(c.wrong, c.unknownKey(file, key, keys[key]))
		return
	}
	if err := noConsent(f, origin); err != nil {
		c.refuse(key, err)
		return
	}
	g, err := valueOf(f, keys[key])
	if err != nil {
		c.refuse(key, fmt.Errorf("%s %w", origin, err))
		return
	}
	g.origin = origin
	values[key] = g
}

// secretOf is the flag whose value is in the file that this key names; nil for other keys.
func (c *Values) secretOf(key string) *pflag.Flag {
	name, is := strings.CutSuffix(key, keyOfFile)
	if f := c.flags.Lookup(name); is && f != nil && Has(f, Secret) {
		return f
	}
	return nil
}

// valueOf converts a TOML value to a flag's value. Each kind of flag takes its own kind of TOML value: 60 is not a
// duration.
func valueOf(f *pflag.Flag, value any) (given, error) {
	kind, text := f.Value.Type(), ""
	switch v := value.(type) {
	case string:
		if kind != "int" && kind != "bool" && kind != "stringSlice" {
			return given{values: []string{v}}, nil
		}
	case int64:
		text = strconv.FormatInt(v, 10)
		if kind == "int" || Has(f, Number) {
			return given{values: []string{text}}, nil
		}
	case bool:
		if kind == "bool" {
			return given{values: []string{strconv.FormatBool(v)}}, nil
		}
	case []any:
		if kind != "stringSlice" {
			break
		}
		names := make([]string, len(v))
		for i, element := range v {
			name, is := element.(string)
			if !is {
				return given{}, fmt.Errorf("has %s in it; expected names in quotes", kindOf(element))
			}
			names[i] = name
		}
		return given{values: names, list: true}, nil
	}
	return given{}, fmt.Errorf("is %s; expected %s", kindOf(value), wantedOf(kind))
}

// wantedOf describes what a kind of flag takes, as TOML writes it.
func wantedOf(kind string) string {
	switch kind {
	case "int":
		return "a whole number without quotes, such as 100"
	case "bool":
		return "true or false, without quotes"
	case "duration":
		return `a duration in quotes, such as "60s"`
	case "stringSlice":
		return `a list, such as ["app", "reports"]`
	}
	return "a text in quotes"
}

// kindOf names the type of a TOML value, for errors. They must not show the value: it may be a password.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "a text"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or a time"
}

// isTable says whether a value is a table or an array of tables.
func isTable(value any) bool {
	if list, is := value.([]any); is && len(list) > 0 {
		value = list[0]
	}
	_, is := value.(map[string]any)
	return is
}

// unknownKey is the error of a key that is not a flag.
func (c *Values) unknownKey(file tomlFile, key string, value any) error {
	shown := connect.Shown(key)
	if isTable(value) {
		err := fmt.Errorf("%s in %s is a table, but the configuration file is flat", shown, file.place(key))
		return fault.WithHint(err,
			"Write one key a line, without tables, brackets and dots: each is the name of a flag without its dashes.")
	}
	err := fmt.Errorf("key %s in %s is the name of no flag", shown, file.place(key))
	var names []string
	c.flags.VisitAll(func(f *pflag.Flag) {
		if !Has(f, CommandLineOnly) && !OwnFlag(f) && f.Name != ConfigFlag {
			names = append(names, f.Name)
			if Has(f, Secret) {
				names = append(names, f.Name+keyOfFile)
			}
		}
	})
	if near := Nearest(key, names); near != "" {
		return fault.WithHint(err, fmt.Sprintf("Did you mean %s?", near))
	}
	return fault.WithHint(err,
		"A key is the name of a flag of serve without its dashes: see \"pgflurry serve --help\".")
}

// place says where a key is: the file, and the line if a line begins with the key.
func (t tomlFile) place(key string) string {
	quoted := regexp.QuoteMeta(key)
	begins := regexp.MustCompile(`(?m)^[ \t]*(?:\[+[ \t]*)?["']?` + quoted + `["']?[ \t]*[=.\]]`)
	at := begins.FindStringIndex(t.content)
	if at == nil {
		return connect.Shown(t.name)
	}
	return fmt.Sprintf("line %d of %s", 1+strings.Count(t.content[:at[0]], "\n"), t.shown())
}

// shown is the name of the file, unless it may hold a password.
func (t tomlFile) shown() string {
	if connect.MayHoldPassword(t.name) {
		return connect.NotRepeated
	}
	return t.name
}

// unreadable is the error of a file that is not TOML. The library's message quotes parts of the file, and each may be
// part of an unquoted password. So the error keeps the position and drops the quotes.
func (t tomlFile) unreadable(err error) error {
	var at *toml.DecodeError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s is not a configuration file: it cannot be read as TOML", t.shown())
	}
	line, column := at.Position()
	return fault.WithHint(fmt.Errorf("line %d of %s, at column %d, is not TOML: %s",
		line, t.shown(), column, withoutQuotes(at.Error())),
		`Expected a line such as window = "60s", databases = ["app", "reports"] or max-connections = 100.`)
}

// libraryQuotes matches the parts of a library message that repeat the file.
var libraryQuotes = regexp.MustCompile(`( but got)? ?(U\+[0-9A-F]+( '.*?')?|"[^"]*"|:.*)`)

func withoutQuotes(message string) string {
	return libraryQuotes.ReplaceAllString(strings.TrimPrefix(message, "toml: "), "")
}

// Nearest is the most similar name, or empty if no name is similar.
func Nearest(word string, names []string) string {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	best, least := "", len(word)/3+1
	for _, name := range names {
		if d := distance(word, name); d < least || d == least && best == "" {
			best, least = name, d
		}
	}
	return best
}

// distance is the edit distance of two words: how many letters have to be changed, added or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
