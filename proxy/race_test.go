package proxy

import "pgflurry/tests/support/race"

// raced: the race detector makes pools forget at random.
const raced = race.Enabled
