package config

import (
	"fmt"

	"pgflurry/internal/fault"
)

// Wrong is an error in the values of settings. Its text names each of them as a flag: --window.
type Wrong struct {
	Settings []string // in the order of the text
	Missing  bool     // the only setting has no value, and needs one
	error
}

// Unwrap returns the cause.
func (w *Wrong) Unwrap() error { return w.error }

// Kind says that the command line is wrong, wherever the value is from.
func (w *Wrong) Kind() fault.Kind { return fault.Usage }

// of makes err an error in these settings, which are separated by spaces.
func of(settings []string, err error) error {
	if err == nil {
		return nil
	}
	return &Wrong{Settings: settings, error: err}
}

// in is of for one setting.
func in(setting string, err error) error { return of([]string{setting}, err) }

// wrong formats an error in one setting.
func wrong(setting, format string, values ...any) error {
	return in(setting, fmt.Errorf(format, values...))
}

// missing is the error of a setting that needs a value. expected says which.
func missing(setting, expected string) error {
	return &Wrong{
		Settings: []string{setting}, Missing: true,
		error: fmt.Errorf("--%s is missing%s", setting, expected),
	}
}

// Each returns the errors that errors.Join has joined into err.
func Each(err error) []error {
	joined, is := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !is:
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, Each(one)...)
	}
	return all
}
