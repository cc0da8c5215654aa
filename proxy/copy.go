package proxy

// While upstream copies in, it reads CopyData, CopyDone and CopyFail, ignores Flush and Sync, and answers none of them
// (protocol-flow, "COPY Operations"). So a Sync that was sent right after the Execute is owed nothing, as long as the copy
// ends by the CopyDone. When it ends by an error before that, nobody can know from outside which of the Syncs upstream had
// already read; then the session stops answering and only relays.

// endCopyLocked takes out what upstream ignored between the start of the copy and its CopyDone.
func (s *session) endCopyLocked(e *entry) {
	if !e.copying {
		return
	}
	e.copying = false
	l := s.ledger
	for i := l.first + 1; i < len(l.entries); i++ {
		if l.entries[i].reply != copyEnd {
			continue
		}
		// Everything up to the CopyDone goes, and the entry of the copy itself takes its place.
		kept := *e
		for _, ignored := range l.entries[l.first+1 : i+1] {
			l.relayed.add(&ignored)
			if ignored.endsStaleness() {
				l.stale.inFlight--
			}
		}
		clear(l.entries[l.first:i])
		l.first = i
		l.entries[i] = kept
		return
	}
}

// copyEndsCleanly says whether an error during copy-in leaves no doubt what upstream read as part of the copy. Only
// messages between the start of the copy and its CopyDone are in doubt.
func (l *ledger) copyEndsCleanly() bool {
	rest := l.entries[l.first+1:]
	return len(rest) == 0 || rest[0].reply == copyEnd
}
