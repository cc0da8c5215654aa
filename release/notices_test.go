package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheNoticesAreThoseOfAllThatProgramsLink(t *testing.T) {
	want, err := notices(t.Context(), "..")
	if err != nil {
		t.Fatal(err)
	}
	if has, err := os.ReadFile("../NOTICE"); err != nil || !bytes.Equal(has, want) {
		t.Errorf("NOTICE is not what the programs need (%v): make notices", err)
	}
}
