// Package ahead proves that programs can draw IDs ahead of the insert, as docs/in-your-program.md says. They use
// package client, or the recipes in Python, TypeScript and Java.
//
// Each recipe has a program in the folder of its language. For each deed the program reads a line from standard input
// and prints a line of JSON. The IDs are strings, in the order in which it got them. A recipe draws 100 IDs at a time.
//
//	parallel     four threads draw 10,000 IDs each, one by one; in TypeScript 40,000 calls at once
//	restarted    250 IDs, one by one, of another proxy: the first one was killed before
//	lost         an ID, whose draw fails the first time; only in TypeScript, whose driver notices a lost connection
//	fresh        with a maximum age of 0: five IDs, one by one
//	bulk         25,000 IDs in one call
//	broken       where nobody listens: the call must fail, the error's text is in "error"
//	ids          1,000 IDs, one by one, of the proxy's ID database
//	parameter    three IDs, whose number is the driver's parameter: the function gives them
//	inserted     rows in item, whose IDs were drawn ahead
//	forked       an ID, a fork, then 150 IDs in the parent and 150 in the child; only in Python
//	forked-in-c  the same, by a fork in C, which runs no hook of Python
//	hibernate    the same as parallel, by Hibernate's generator; only in Java
//
// The environment names the server as for tests/clients. AWAY_PORT is a port where nobody listens, and ID_DATABASE is
// the name of the ID database.
//
// Debian has no Hibernate 6, so java/stubs declares the few types of it that the recipe needs. The test compiles the
// recipe against them and runs its draws over JDBC, without Hibernate itself.
package ahead
