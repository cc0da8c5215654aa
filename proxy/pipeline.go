package proxy

// The first Execute of a segment begins a transaction that lasts to the Sync, and PostgreSQL judges what is executed behind it by
// that: VACUUM and SET TRANSACTION are refused (25001); from version 18 on the segment counts as a transaction block, so that LOCK TABLE,
// DECLARE CURSOR and SET LOCAL do their work, and a CALL must not commit (start_xact_command). Of a unit that was answered upstream
// has seen no Execute. So before the first message of its segment that is forwarded, upstream executes one that does nothing.
// The client sees nothing of it but an error, such as that of a cancel request, as if it had come for its own message.
//
// Of an empty statement PostgreSQL would take no notice. The name is none that a client chooses; the first Close is for what an error
// has left of the segment before.

// firstName names the statement, and its portal.
const firstName = "pgflurry: answered before\x00"

var (
	firstExecute = []byte("C\x00\x00\x00\x1fS" + firstName +
		"P\x00\x00\x00\x35" + firstName + "SELECT 1 WHERE false\x00\x00\x00" +
		"B\x00\x00\x00\x3e" + firstName + firstName + "\x00\x00\x00\x00\x00\x00" +
		"E\x00\x00\x00\x22" + firstName + "\x00\x00\x00\x00" +
		"C\x00\x00\x00\x1fP" + firstName +
		"C\x00\x00\x00\x1fS" + firstName)
	firstExecuteOwes = []reply{owesClose, owesParse, owesBind, owesExecute, owesClose, owesClose}
)

// beginSegment comes before an extended-query message that is forwarded. A Close runs nothing.
func (s *session) beginSegment(kind byte) error {
	if !s.segment.first || kind == 'C' {
		return nil
	}
	s.segment.first = false
	if err := s.flush(); err != nil {
		return err
	}
	for _, owes := range firstExecuteOwes {
		s.ledger.push(entry{reply: owes, swallow: true})
	}
	_, err := s.server.Write(firstExecute)
	return err
}
