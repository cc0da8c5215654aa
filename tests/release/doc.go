// Package release makes releases as a maintainer does, with make, and installs their packages as a user does.
// The tests have the build tag full.
package release
