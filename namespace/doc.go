// Package namespace reads the one row that says which ID space a database belongs to, and judges what may be done with
// that database: whether it is a copy of another one, and whether a proxy may answer in it.
package namespace
