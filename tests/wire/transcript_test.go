package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgproto3/v2"
)

// transcript is what a server said, with one line a message and masked IDs, and the IDs themselves.
type transcript struct {
	lines []string
	ids   []int64
	// ready counts the ReadyForQuery, also that of the greeting. answered has the batches with local IDs, by the number
	// of ReadyForQuery before them.
	ready    int
	answered []int
}

// add adds a line, and the IDs in it.
func (t *transcript) add(line string, ids []int64) {
	t.lines, t.ids = append(t.lines, line), append(t.ids, ids...)
	switch {
	case isReady(line):
		t.ready++
	case (transcript{ids: ids}).localIDs() > 0 && (len(t.answered) == 0 || t.answered[len(t.answered)-1] != t.ready):
		t.answered = append(t.answered, t.ready)
	}
}

// since returns the answered batches from the n-th ReadyForQuery on, numbered from there.
func (t *transcript) since(n int) (answered []int) {
	for _, k := range t.answered {
		if k >= n {
			answered = append(answered, k-n)
		}
	}
	return answered
}

func isReady(line string) bool { return strings.HasPrefix(line, "ReadyForQuery") }

// localIDs counts the IDs that the proxy gave from memory.
func (t transcript) localIDs() (n int) {
	for _, id := range t.ids {
		if id >= firstLocalID {
			n++
		}
	}
	return n
}

const (
	// firstLocalID is the least ID of the tests' proxies. PostgreSQL's IDs will be smaller for decades.
	firstLocalID = 1 << 60
	// leastID is less than any ID, and greater than any other number in a transcript.
	leastID = 1e15
)

var (
	idDigits  = regexp.MustCompile(`\b[0-9]{16,19}\b`)
	temporary = regexp.MustCompile(`\bpg_temp_[0-9]+\b`) // the schema of a session's temporary objects
)

// masker turns messages into lines. It removes what differs between two sessions that say the same.
type masker struct{ ids []int64 }

func (m *masker) text(s string) string {
	if strings.Contains(s, "pg_temp_") {
		s = temporary.ReplaceAllString(s, "pg_temp")
	}
	if len(s) < 16 {
		return s
	}
	return idDigits.ReplaceAllStringFunc(s, func(digits string) string {
		id, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || id < leastID {
			return digits
		}
		m.ids = append(m.ids, id)
		return "<id>"
	})
}

func (m *masker) value(v []byte) string {
	switch {
	case v == nil:
		return "NULL"
	case len(v) == 8 && v[0] < ' ' && binary.BigEndian.Uint64(v) >= leastID:
		m.ids = append(m.ids, int64(binary.BigEndian.Uint64(v)))
		return "<binary id>"
	}
	// the same as text, for thousands of values
	if id, err := strconv.ParseInt(string(v), 10, 64); err == nil && id >= leastID && v[0] != '+' {
		m.ids = append(m.ids, id)
		return strconv.Quote("<id>")
	}
	return strconv.Quote(m.text(string(v)))
}

func (m *masker) line(message pgproto3.BackendMessage) string {
	switch v := message.(type) {
	case *pgproto3.RowDescription:
		var fields []string
		for _, f := range v.Fields {
			table := "no table"
			if f.TableOID != 0 {
				table = "table" // in each session temporary tables have other OIDs
			}
			fields = append(fields, fmt.Sprintf("%q %s %d type %d size %d modifier %d format %d",
				f.Name, table, f.TableAttributeNumber, f.DataTypeOID, f.DataTypeSize, f.TypeModifier, f.Format))
		}
		return "RowDescription " + strings.Join(fields, "; ")
	case *pgproto3.DataRow:
		var fields []string
		for _, f := range v.Values {
			fields = append(fields, m.value(f))
		}
		return "DataRow " + strings.Join(fields, " ")
	case *pgproto3.FunctionCallResponse:
		return "FunctionCallResponse " + m.value(v.Result)
	case *pgproto3.CopyData:
		return "CopyData " + strconv.Quote(m.text(string(v.Data)))
	case *pgproto3.ReadyForQuery:
		return "ReadyForQuery " + string(v.TxStatus)
	case *pgproto3.CommandComplete:
		return "CommandComplete " + string(v.CommandTag)
	case *pgproto3.ErrorResponse:
		return "ErrorResponse " + m.report(v)
	case *pgproto3.NoticeResponse:
		return "NoticeResponse " + m.report((*pgproto3.ErrorResponse)(v))
	case *pgproto3.NotificationResponse:
		return fmt.Sprintf("NotificationResponse %q %q", v.Channel, v.Payload)
	case *pgproto3.BackendKeyData:
		return "BackendKeyData"
	case *pgproto3.ParameterStatus:
		return fmt.Sprintf("ParameterStatus %s %q", v.Name, v.Value)
	}
	return fmt.Sprintf("%T %+v", message, message)[len("*pgproto3."):]
}

// report writes every field of an error or notice that is set, so a field that the proxy loses shows.
func (m *masker) report(e *pgproto3.ErrorResponse) string {
	s := fmt.Sprintf("%s/%s %s %q", e.Severity, e.SeverityUnlocalized, e.Code, m.text(e.Message))
	for _, field := range []struct{ name, value string }{
		{"detail", e.Detail},
		{"hint", e.Hint},
		{"query", e.InternalQuery},
		{"where", e.Where},
		{"schema", e.SchemaName},
		{"table", e.TableName},
		{"column", e.ColumnName},
		{"type", e.DataTypeName},
		{"constraint", e.ConstraintName},
	} {
		if field.value != "" {
			s += fmt.Sprintf(" %s %q", field.name, m.text(field.value))
		}
	}
	if e.Code == "25P02" || e.Code == "25P01" {
		return s // which message or line noticed it depends on what upstream got before
	}
	return s + fmt.Sprintf(" at %d %d, %s:%d %s", e.Position, e.InternalPosition, e.File, e.Line, e.Routine)
}

// receive reads one message. It returns io.EOF at an end between two messages, and another error at a torn one.
func receive(f *pgproto3.Frontend, m *masker) (line string, err error) {
	message, err := f.Receive()
	if err != nil {
		return "", err
	}
	return m.line(message), nil
}

// framedReader knows where messages end. pgproto3 itself calls an end between two messages unexpected, too.
type framedReader struct {
	r    io.Reader
	left int // missing bytes of the present message
	head []byte
}

func (f *framedReader) torn() bool { return f.left > 0 || len(f.head) > 0 }

func (f *framedReader) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if f.left > 0 {
			skip := min(f.left, len(rest))
			f.left -= skip
			rest = rest[skip:]
			continue
		}
		f.head = append(f.head, rest[0])
		rest = rest[1:]
		if len(f.head) == 5 {
			f.left = int(binary.BigEndian.Uint32(f.head[1:])) - 4
			f.head = f.head[:0]
		}
	}
	return n, err
}
