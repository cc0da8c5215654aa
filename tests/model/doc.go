// Package model has models of the lease and the function in Promela, the language of Spin. Its tests search each whole
// for an ID that comes twice. They also take each guard away, and then expect to find one. README.md is the page of
// this room.
package model
