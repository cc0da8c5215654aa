// Package operate proves that operators see real faults as they are. Prometheus itself judges metrics, alerts and the
// dashboard, and a real browser the status page of a running proxy (page_*_test.go). The tests have the build tag full.
package operate
