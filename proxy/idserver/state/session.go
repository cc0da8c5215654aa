package state

// Database is what all sessions share.
type Database struct {
	Name    string
	Console Console
	Now     func() int64 // in microseconds since 1970
}

// Console has the tables of SHOW that are no settings.
type Console interface {
	// Show makes the table of a word, as this user may see it; false: there is none. Each row is as long as columns.
	Show(word, user string) (columns []string, rows [][]string, known bool)
}

// Session is what a session has beside its connection. It has one owner, who alone uses it. It must not be copied.
type Session struct {
	Kept        Kept
	Parameters  Parameters
	Objects     Objects
	Transaction Transaction
	database    *Database
	pid         int32 // of BackendKeyData
}

// Begin begins the session of a user. parameters are those that the real server reports, in its spelling. They are
// shared, and never changed.
func (s *Session) Begin(database *Database, user string, pid int32, parameters map[string]string) {
	s.database, s.pid = database, pid
	s.Parameters = Parameters{kept: &s.Kept, server: parameters, user: user}
	s.Objects.kept = &s.Kept
	s.Transaction = Transaction{parameters: &s.Parameters, objects: &s.Objects}
}
