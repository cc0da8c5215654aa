package session

// SQL is what every session runs first.
var SQL = sql.Session
