// Package leasing proves on a real server that lease keeps its invariants, and that a worker has one holder at a time.
//
//	*_test.go           the statements, the keeper, roles, and all that a server may do meanwhile
//	program_*_test.go   a Go program that leases a worker itself gives no ID twice beside proxies and functions. It is
//	                    built in a module of its own, from the folder orders
package leasing
