//go:build !race

package program

var buildFlags []string
