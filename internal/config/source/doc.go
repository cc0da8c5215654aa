// Package source gives the flags of a command their values.
//
// A flag gets its value from the first of these places that has one: the command line, the environment, the
// configuration file. The last two give texts by the names of flags, and where each text is from. So one function sets
// all flags, and every error can name the place.
//
//	source.go       Read: the places in their order, and all errors at once
//	environment.go  variables PGFLURRY_…     file.go   keys of a flat TOML file
//	secret.go       a value that stands in a file of its own
//	facts.go        what else a flag knows of its row, as annotations
//
// No error repeats a value that may hold a password. The environment is passed in.
package source
