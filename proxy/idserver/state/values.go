package state

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/wire"
)

// preset is the value of a setting that drivers read: the real server's, or else a default.
func (x *Parameters) preset(name string) (string, bool) {
	switch name {
	case "is_superuser":
		return "off", true
	case "session_authorization":
		return x.user, true
	}
	for of, value := range x.server {
		if len(of) == len(name) && strings.EqualFold(of, name) {
			return value, true
		}
	}
	if name == "server_version_num" {
		return strconv.Itoa(x.versionNumber()), true
	}
	value, ok := presets[name]
	return value, ok
}

// presets are PostgreSQL's defaults of settings that it does not report.
var presets = map[string]string{
	"application_name":                    "",
	"bytea_output":                        "hex",
	"client_encoding":                     "UTF8",
	"client_min_messages":                 "notice",
	"datestyle":                           "ISO, MDY",
	"default_transaction_deferrable":      "off",
	"default_transaction_isolation":       "read committed",
	"default_transaction_read_only":       "off",
	"extra_float_digits":                  "1",
	"idle_in_transaction_session_timeout": "0",
	"idle_session_timeout":                "0",
	"in_hot_standby":                      "off",
	"integer_datetimes":                   "on",
	"intervalstyle":                       "postgres",
	"lock_timeout":                        "0",
	"max_identifier_length":               "63",
	"max_index_keys":                      "32",
	"role":                                "none",
	"row_security":                        "on",
	"search_path":                         `"$user", public`,
	"server_encoding":                     "UTF8",
	"standard_conforming_strings":         "on",
	"statement_timeout":                   "0",
	"timezone":                            "GMT",
}

// versionNumber is server_version as a number, such as 150004 for 15.4.
func (x *Parameters) versionNumber() int {
	version, _ := x.get("server_version")
	end := strings.IndexFunc(version, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end >= 0 {
		version = version[:end]
	}
	major, minor, _ := strings.Cut(version, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a*10_000 + b
}

// spelling is the name of a setting as SHOW writes it.
func (x *Parameters) spelling(name string) string {
	for of := range x.server {
		if strings.EqualFold(of, name) {
			return of
		}
	}
	switch lower := strings.ToLower(name); lower {
	case "datestyle":
		return "DateStyle"
	case "intervalstyle":
		return "IntervalStyle"
	case "timezone":
		return "TimeZone"
	default:
		return lower
	}
}

// free returns the name of a setting in lower case, if a client may set it.
func free(name string) (string, error) {
	if !isSettingName(name) {
		return "", fault.New(
			"42602", `invalid configuration parameter name "`+name+`"`,
			"A name is of letters, digits, _ and $, and may have dots.",
		)
	}
	switch lower := strings.ToLower(name); lower {
	case "in_hot_standby", "integer_datetimes", "is_superuser", "max_identifier_length", "max_index_keys",
		"server_encoding", "server_version", "server_version_num":
		return "", fault.New("55P02", `parameter "`+lower+`" cannot be changed`, "")
	default:
		return lower, nil
	}
}

func isSettingName(name string) bool {
	first := true
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_', r >= 0x80:
			first = false
		case !first && ('0' <= r && r <= '9' || r == '$'):
		case !first && r == '.':
			first = true
		default:
			return false
		}
	}
	return !first
}

// accept returns a name in lower case, and its value as PostgreSQL writes it. It takes the value of an unknown setting
// as it is.
func (x *Parameters) accept(name string, values []string) (lower, value string, err error) {
	if lower, err = free(name); err != nil {
		return "", "", err
	}
	value = strings.Join(values, ", ")
	switch lower {
	case "search_path":
		return lower, value, nil
	case "datestyle":
		before, _ := x.get(lower)
		value, err = dateStyle(before, value)
		return lower, value, err
	}
	if len(values) > 1 {
		return "", "", fault.New("22023", "SET "+name+" takes only one argument", "")
	}
	switch lower {
	case "client_encoding":
		value, err = encodingOf(value)
	case "session_authorization", "role":
		return lower, value, x.checkRole(lower, value)
	case "intervalstyle":
		value, err = oneOf("IntervalStyle", value, "postgres", "postgres_verbose", "sql_standard", "iso_8601")
	case "client_min_messages":
		value, err = oneOf(lower, value, "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning",
			"error")
	case "default_transaction_isolation", "transaction_isolation":
		value, err = oneOf(lower, value, "serializable", "repeatable read", "read committed", "read uncommitted")
	case "standard_conforming_strings", "row_security", "default_transaction_read_only", "transaction_read_only",
		"default_transaction_deferrable", "transaction_deferrable":
		value, err = boolean(lower, value)
	case "application_name":
		value = ascii(value, x.versionNumber() >= 160_000)
	}
	return lower, value, err
}

func badValue(name, value, hint string) fault.Error {
	return fault.New("22023", `invalid value for parameter "`+name+`": "`+value+`"`, hint)
}

// checkRole refuses every role except the client's own.
func (x *Parameters) checkRole(name, value string) error {
	if value == x.user || name == "role" && value == "none" {
		return nil
	}
	return fault.New(
		"42501", `permission denied to set `+name+` to "`+value+`"`, "Log in as that user.",
	)
}

func oneOf(name, value string, words ...string) (string, error) {
	for _, word := range words {
		if strings.EqualFold(word, value) {
			return word, nil
		}
	}
	return "", badValue(name, value, "Available values: "+strings.Join(words, ", ")+".")
}

func boolean(name, value string) (string, error) {
	truth, ok := wire.ParseBool(value)
	switch {
	case !ok:
		return "", fault.New("22023", `parameter "`+name+`" requires a Boolean value`, "")
	case truth:
		return "on", nil
	}
	return "off", nil
}

// ascii replaces each byte that is no printable ASCII. From version 16 on PostgreSQL writes an escape such as \xe9, and
// before a question mark.
func ascii(value string, escapes bool) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		switch {
		case ' ' <= c && c <= '~':
			b.WriteByte(c)
		case escapes:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// dateStyle reads ISO, and perhaps the order of day and month. Without one that stays as before.
func dateStyle(before, value string) (string, error) {
	_, order, _ := strings.Cut(before, ", ")
	style, given, ordered := strings.Cut(strings.ToUpper(value), ",")
	if ordered {
		order = strings.TrimSpace(given)
	}
	if style != "ISO" || !slices.Contains([]string{"MDY", "DMY", "YMD"}, order) {
		return "", badValue("DateStyle", value, "")
	}
	return style + ", " + order, nil
}

// encodings are the names of client_encoding that this database knows, in lower case without punctuation. No driver
// asks for another one.
var encodings = map[string]string{"utf8": "UTF8", "unicode": "UTF8", "sqlascii": "SQL_ASCII"}

// encodingOf returns PostgreSQL's name of an encoding. As there, case and punctuation do not count.
func encodingOf(name string) (string, error) {
	plain := strings.Map(func(r rune) rune {
		if r < 'a' && (r < '0' || r > '9') || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if encoding, known := encodings[plain]; known {
		return encoding, nil
	}
	return "", badValue("client_encoding", name, "This database knows UTF8 and SQL_ASCII.")
}

// all returns all settings, sorted by name.
func (x *Parameters) all() (rows [][]string) {
	names := make(map[string]bool)
	for _, m := range []map[string]string{presets, x.startup, x.session, x.local} {
		for name := range m {
			names[name] = true
		}
	}
	for name := range x.server {
		names[strings.ToLower(name)] = true
	}
	for _, name := range []string{
		"is_superuser", "session_authorization", "server_version_num", "transaction_deferrable",
		"transaction_isolation", "transaction_read_only",
	} {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value, _ := x.get(name)
		rows = append(rows, []string{x.spelling(name), value, ""})
	}
	return rows
}
