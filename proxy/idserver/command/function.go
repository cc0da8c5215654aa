package command

import (
	"strings"

	"pgflurry/internal/fault"
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
	// Now is the time of the transaction, in microseconds since 1970.
	Now() int64
	// Set sets a setting, or restores its default if value is nil. It returns the new value. local means until the
	// transaction ends.
	Set(name string, value *string, local bool) (string, error)
}

// function is what a SELECT may ask the session: a call, or a keyword that stands for a value.
type function struct {
	result    uint32
	keyword   bool // without brackets
	arguments []uint32
	least     int // how many arguments there have to be
	call      func(env Environment, arguments []Value) (Value, error)
}

var functions = map[string]function{
	"version":                {result: Text, call: texts(Text, Environment.Version)},
	"current_database":       {result: Name, call: texts(Name, Environment.Database)},
	"current_catalog":        {result: Name, keyword: true, call: texts(Name, Environment.Database)},
	"current_schema":         {result: Name, keyword: true, call: always(Value{oid: Name, text: "public"})},
	"current_user":           {result: Name, keyword: true, call: texts(Name, Environment.User)},
	"current_role":           {result: Name, keyword: true, call: texts(Name, Environment.User)},
	"session_user":           {result: Name, keyword: true, call: texts(Name, Environment.User)},
	"user":                   {result: Name, keyword: true, call: texts(Name, Environment.User)},
	"pg_backend_pid":         {result: Int4, call: backendPID},
	"now":                    {result: Timestamptz, call: now},
	"current_timestamp":      {result: Timestamptz, keyword: true, call: now},
	"pg_is_in_recovery":      {result: Bool, call: always(boolValue(false))},
	"pg_advisory_unlock_all": {result: Void, call: always(Value{oid: Void})},
	"current_setting":        {result: Text, arguments: []uint32{Text, Bool}, least: 1, call: currentSetting},
	"set_config":             {result: Text, arguments: []uint32{Text, Text, Bool}, least: 3, call: setConfig},
}

// texts is a function without arguments.
func texts(oid uint32, text func(Environment) string) func(Environment, []Value) (Value, error) {
	return func(env Environment, _ []Value) (Value, error) { return Value{oid: oid, text: text(env)}, nil }
}

func always(v Value) func(Environment, []Value) (Value, error) {
	return func(Environment, []Value) (Value, error) { return v, nil }
}

func backendPID(env Environment, _ []Value) (Value, error) {
	return Value{oid: Int4, number: int64(env.PID())}, nil
}

func now(env Environment, _ []Value) (Value, error) {
	return Value{oid: Timestamptz, number: env.Now() - year2000}, nil
}

func noFunction(name string, types []uint32) fault.Error {
	names := make([]string, len(types))
	for i, oid := range types {
		names[i] = nameOf(oid)
	}
	return fault.Errorf(codeNoFunction,
		"No function matches the given name and argument types. You might need to add explicit type casts.",
		"function %s(%s) does not exist", name, quote(strings.Join(names, ", ")))
}

func currentSetting(env Environment, arguments []Value) (Value, error) {
	for _, v := range arguments {
		if v.null {
			return Null(Text), nil
		}
	}
	name := arguments[0].text
	if value, known := env.Setting(name); known {
		return Value{oid: Text, text: value}, nil
	}
	if len(arguments) > 1 && arguments[1].number != 0 {
		return Null(Text), nil
	}
	return Value{}, fault.Errorf(codeNoObject, "", `unrecognized configuration parameter "%s"`, quote(name))
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
	return Value{oid: Text, text: now}, err
}
