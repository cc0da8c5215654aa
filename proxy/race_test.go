package proxy

import "pgflurry/tests/support/race"

// raced says that the race detector is on. It makes pools lose items at random.
const raced = race.Enabled
