package regions

import "pgflurry/tests/support/machines"

// enter moves the tests to a private world, where machines can be.
func enter() { machines.Enter() }
