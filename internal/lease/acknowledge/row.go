package acknowledge

import (
	"errors"
	"strconv"
	"time"
)

// Param is a parameter in text format; nil is NULL.
type Param []byte

// Text makes a parameter of any type, in PostgreSQL's text format.
func Text(s string) Param { return Param(s) }

// Number makes a parameter of an integer type.
func Number(n int64) Param { return strconv.AppendInt(nil, n, 10) }

// value is a column in text format; nil is NULL. It does not share the connection's buffer.
type value []byte

// Row is the row of an acknowledged write. Read its columns from left to right; NULL reads as zero. The first error
// stays.
type Row struct {
	values []value
	err    error
}

// Err returns the first error of reading a column. The caller must then treat the outcome as unknown, and close the
// Writer.
func (r *Row) Err() error { return r.err }

// Null reports whether the next column is NULL, without taking it.
func (r *Row) Null() bool { return len(r.values) > 0 && r.values[0] == nil }

// Text takes the next column as text.
func (r *Row) Text() string {
	if len(r.values) == 0 {
		r.err = errors.Join(r.err, errors.New("the row has too few columns"))
		return ""
	}
	v := r.values[0]
	r.values = r.values[1:]
	return string(v)
}

// Number takes the next column, of an integer type.
func (r *Row) Number() int64 {
	if r.Null() {
		r.values = r.values[1:]
		return 0
	}
	n, err := strconv.ParseInt(r.Text(), 10, 64)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n
}

// Micros takes the next column, a number of microseconds.
func (r *Row) Micros() time.Duration { return time.Duration(r.Number()) * time.Microsecond }

// Bool takes the next column, a boolean.
func (r *Row) Bool() bool { return r.Text() == "t" }
