// Package regions proves docs/regions.md: databases of one ID space that never talk give no ID twice, and each one
// that would not fit is refused.
//
//	refused_test.go      migrate up refuses each fingerprint, region and home that does not fit
//	copies_test.go       restores, dumps, replication and copies of a region
//	check_test.go        "namespace check" finds what nothing else can
//	serve_test.go        a proxy in a region
//	apart_linux_test.go  two regions on two machines without any link, for the whole run
//
// The last one needs what tests/support/machines needs, and is skipped without.
package regions
