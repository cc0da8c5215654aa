// Package volume says how much a test does: enough to fail soon in everyday runs, everything at night.
package volume

import "os"

// Full says whether the tests do everything: PGFLURRY_TEST_VOLUME=full, as "make nightly" sets it.
func Full() bool { return os.Getenv("PGFLURRY_TEST_VOLUME") == "full" }

// Of returns how much a test does: everyday, or full if the tests do everything. The smaller one must still show what
// the test claims.
func Of[T any](everyday, full T) T {
	if Full() {
		return full
	}
	return everyday
}
