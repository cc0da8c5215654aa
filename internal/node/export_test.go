package node

import "time"

// WhatToDo is what helps where a listener cannot be opened.
var WhatToDo = whatToDo

// SetPauses replaces the pause between two looks, and the age and the grace of connections. Zero leaves one as it is.
// Call it before Run.
func (n *Node) SetPauses(look, age, grace time.Duration) {
	for _, change := range []struct{ to, value *time.Duration }{
		{&n.pause, &look}, {&n.rules.Age, &age}, {&n.rules.Grace, &grace},
	} {
		if *change.value != 0 {
			*change.to = *change.value
		}
	}
}
