// Package holder makes what each holder of a worker consists of: a generator, and the keeper of the lease that supplies
// it. A holder is a proxy (package node), or a Go program (package inprocess).
//
//	                    ┌─ Find ─────────────┐            ┌─ New ───────────────┐
//	lease database ────▶│ read the namespace │──────────▶ │ generator ◀─ keeper │ ◀──▶ lease database
//	                    │ check the settings │ namespace  └─────────────────────┘
//	                    └────────────────────┘
//
// Find waits while a fault may still pass, and fails if the namespace does not allow the settings. The caller runs the
// keeper that New has made. Nothing is shared between two holders, and no goroutine is started here.
package holder
