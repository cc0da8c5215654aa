// Package ahead proves that IDs can be drawn ahead of the insert as docs/drawing-ahead.md says: with package client,
// and with the recipes in Python, TypeScript and Java.
//
// A program for each recipe stands in the folder of its language. For each deed it reads a line from standard input
// and prints a line of JSON, with the IDs as strings in the order in which it got them. A recipe draws 100 IDs at a
// time.
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
// The environment names the server as for tests/clients, in AWAY_PORT a port where nobody listens,
// and in ID_DATABASE the name of the ID database.
//
// Without Maven's repository there is no Hibernate 6 to compile its recipe with. In java/stubs stand the few
// declarations of Hibernate 6 that it needs. So the recipe is compiled, and its draws run over JDBC, but not in
// Hibernate.
package ahead
