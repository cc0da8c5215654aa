// Package deeds runs programs in other languages. It reads lines of JSON that say what they did.
//
// With the argument "version" a program prints the version of what it tests and exits 0, or exits otherwise if that is
// not installed. Without an argument it does the deeds that CLIENT_DEEDS names, in the order of its suite's doc.go. It
// prints a line of JSON for each:
//
//	{"deed": "…", "result": …, "ids": ["…"]}        the result is compared, the IDs are counted and must be new
//	{"deed": "…", "none": "…"}                      it cannot be done, and why
//	{"deed": "…", "error": "…", "sqlstate": "…"}    it failed: a failed test; expected errors belong in the result
//
// CLIENT_MODE is the variant of the program. PGFLURRY_TEST_CLIENTS says which programs have to be installed. Without
// it, none is needed. With 1, the first group of each suite is. With all, every program is.
package deeds
