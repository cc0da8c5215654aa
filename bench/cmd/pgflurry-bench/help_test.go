package main

import (
	"testing"

	"pgflurry/tests/support/prose"
)

func TestSentencesOfHelpAreShort(t *testing.T) { prose.CheckHelp(t, newRoot()) }
