// Package idlogin proves that a login to the ID database looks the same as at PostgreSQL. Both get the same bytes and
// have to answer with the same messages; only random parts may differ. Real clients log in through a proxy whose server
// is away.
package idlogin
