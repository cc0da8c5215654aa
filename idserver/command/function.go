package command

import (
	"strings"

	"pgflurry/fault"
	"pgflurry/idserver/command/tokens"
)

// Environment is what a SELECT may ask of the session.
type Environment interface {
	// Version is the result of version().
	Version() string
	// Database is the name of the database, User the one who logged in.
	Database() string
	User() string
	// PID is the process ID that the client has from BackendKeyData.
	PID() int32
	// Setting is the value of a setting; false if there is none of that name.
	Setting(name string) (value string, known bool)
	// Set sets a setting, or restores its default if value is nil. It returns the new value. local means until the
	// transaction ends.
	Set(name string, value *string, local bool) (string, error)
}

// function is a function that a SELECT may call.
type function struct {
	name      string
	arguments []uint32
	result    uint32
	strict    bool // NULL for a NULL
	call      func(env Environment, arguments []Value) (Value, error)
}

// functions returns all functions of a name. They differ in the number of arguments.
func functions(name string) []function {
	switch name {
	case "version":
		return plain(name, Text, func(env Environment) Value { return textValue(env.Version()) })
	case "current_database", "current_catalog":
		return plain(name, Name, func(env Environment) Value { return nameValue(env.Database()) })
	case "current_schema":
		return plain(name, Name, func(Environment) Value { return nameValue("public") })
	case "current_user", "session_user", "user", "current_role":
		return plain(name, Name, func(env Environment) Value { return nameValue(env.User()) })
	case "pg_backend_pid":
		return plain(name, Int4, func(env Environment) Value { return Value{oid: Int4, number: int64(env.PID())} })
	case "pg_is_in_recovery":
		return plain(name, Bool, func(Environment) Value { return boolValue(false) })
	case "pg_advisory_unlock_all":
		return plain(name, Void, func(Environment) Value { return Value{oid: Void} })
	case "current_setting":
		return []function{
			{name, []uint32{Text}, Text, true, currentSetting},
			{name, []uint32{Text, Bool}, Text, true, currentSetting},
		}
	case "set_config":
		return []function{{name, []uint32{Text, Text, Bool}, Text, false, setConfig}}
	}
	return nil
}

func noFunction(name string, types []uint32) fault.Error {
	names := make([]string, len(types))
	for i, oid := range types {
		names[i] = nameOf(oid)
	}
	return fault.Errorf(codeNoFunction,
		"No function matches the given name and argument types. You might need to add explicit type casts.",
		"function %s(%s) does not exist", name, tokens.Quote(strings.Join(names, ", ")))
}

func plain(name string, result uint32, value func(Environment) Value) []function {
	return []function{{name: name, result: result, call: func(env Environment, _ []Value) (Value, error) {
		return value(env), nil
	}}}
}

// isWord says whether the name is a keyword that stands for a value, without brackets.
func isWord(name string) bool {
	switch name {
	case "current_catalog", "current_schema", "current_user", "session_user", "user", "current_role":
		return true
	}
	return false
}

// isCall says whether the name is a function's, with brackets.
func isCall(name string) bool { return !isWord(name) || name == "current_schema" }

func nameValue(s string) Value { return Value{oid: Name, text: s} }

func currentSetting(env Environment, arguments []Value) (Value, error) {
	name := arguments[0].text
	if value, known := env.Setting(name); known {
		return textValue(value), nil
	}
	if len(arguments) > 1 && arguments[1].number != 0 {
		return Null(Text), nil
	}
	return Value{}, fault.Errorf(codeNoObject, "", `unrecognized configuration parameter "%s"`, tokens.Quote(name))
}

func setConfig(env Environment, arguments []Value) (Value, error) {
	if arguments[0].null {
		return Value{}, fault.Errorf(codeNullNotAllowed, "", "SET requires parameter name")
	}
	var value *string
	if !arguments[1].null {
		value = &arguments[1].text
	}
	now, err := env.Set(arguments[0].text, value, arguments[2].number != 0)
	return textValue(now), err
}
