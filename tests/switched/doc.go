// Package switched tests what stays unique when a server changes behind its address, or goes back in time. Proxies, an
// ID database, open sessions and the function draw before, meanwhile and afterwards, and every ID is compared.
//
// Each test is something that an operator does. Each gave IDs twice once.
package switched
