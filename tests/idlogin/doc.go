// Package idlogin proves that logging in to the ID database looks as it does at PostgreSQL: the same bytes go to both,
// and the same messages come back, but for what is random. Real clients log in through a proxy whose server is away.
package idlogin
