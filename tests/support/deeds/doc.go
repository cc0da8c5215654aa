// Package deeds runs programs in other languages and reads what they did from lines of JSON.
//
// Called with the argument "version", a program prints the version of what it tests and exits 0; it exits otherwise if
// that is not installed. Called without one it does the deeds that CLIENT_DEEDS names, in the order of its suite's
// doc.go, and prints a line of JSON for each:
//
//	{"deed": "…", "result": …, "ids": ["…"]}        the result is compared, the IDs are counted and must be new
//	{"deed": "…", "none": "…"}                      it cannot be done, and why
//	{"deed": "…", "error": "…", "sqlstate": "…"}    it failed: a failed test; expected errors belong in the result
//
// CLIENT_MODE is the variant of the program. PGFLURRY_TEST_CLIENTS says which programs must be there: nothing, none of
// those that have to be installed; 1, the first group of each suite; all, all of them.
package deeds
