package regions

import "pgflurry/tests/support/machines"

// enter goes where there may be machines.
func enter() { machines.Enter() }
