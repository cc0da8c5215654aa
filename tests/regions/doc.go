// Package regions proves what docs/high-availability.md says of regions: databases of one ID space that never talk to
// each other give no ID twice. A region that would not fit is refused.
//
//	refused_test.go      migrate up refuses each fingerprint, region and home that does not fit
//	copies_test.go       restores, dumps, replication and copies of a region
//	check_test.go        "namespace check" finds what nothing else can
//	serve_test.go        a proxy in a region
//	apart_linux_test.go  two regions on two machines without any link, for the whole run
//
// The last file needs what tests/support/machines needs, and skips otherwise.
package regions
