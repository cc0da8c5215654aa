package wire

import (
	"encoding/binary"
	"strconv"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/fault"
	"pgflurry/proxy/statement"
)

// Messages without contents.
var (
	ParseComplete   = Encoded(&pgproto3.ParseComplete{})
	BindComplete    = Encoded(&pgproto3.BindComplete{})
	CloseComplete   = Encoded(&pgproto3.CloseComplete{})
	PortalSuspended = Encoded(&pgproto3.PortalSuspended{})
	NoParameters    = Encoded(&pgproto3.ParameterDescription{})
	NoData          = Encoded(&pgproto3.NoData{})
	EmptyQuery      = Encoded(&pgproto3.EmptyQueryResponse{})
)

// Messages of a proxy's own to its upstream.
var (
	CloseUnnamedStatement = Encoded(&pgproto3.Close{ObjectType: OfStatement})
	CloseUnnamedPortal    = Encoded(&pgproto3.Close{ObjectType: OfPortal})
	Sync                  = Encoded(&pgproto3.Sync{})
	Terminate             = Encoded(&pgproto3.Terminate{})
)

// Encoded is a message as it goes over the wire. It is for constants: if one cannot be encoded, that is a bug.
func Encoded(m interface{ Encode([]byte) ([]byte, error) }) []byte {
	b, err := m.Encode(nil)
	if err != nil {
		panic(err)
	}
	return b
}

// Begin begins a message. End, with the at that Begin returned, fills in the length.
func Begin(b []byte, kind byte) (message []byte, at int) {
	return append(b, kind, 0, 0, 0, 0), len(b) + 1
}

// End ends the message that began at at.
func End(b []byte, at int) []byte {
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at))
	return b
}

// AppendID writes one column of a DataRow. Type text is digits in both formats. Type bigint is eight bytes in binary.
func AppendID(b []byte, id int64, text bool, format uint16) []byte {
	if format == 1 && !text {
		b = append(b, 0, 0, 0, 8)
		return binary.BigEndian.AppendUint64(b, uint64(id))
	}
	b = append(b, 0, 0, 0, 0)
	at := len(b)
	b = strconv.AppendInt(b, id, 10)
	binary.BigEndian.PutUint32(b[at-4:], uint32(len(b)-at))
	return b
}

// AppendRowDescription describes the rows of an answered form: bigint is 8 bytes wide, text varies (-1).
func AppendRowDescription(b []byte, f *statement.Form, formats []uint16) []byte {
	b, at := Begin(b, BackendRowDescription)
	b = binary.BigEndian.AppendUint16(b, uint16(len(f.Columns)))
	for i, c := range f.Columns {
		oid, width := uint32(OIDInt8), int16(8)
		if c.Text {
			oid, width = OIDText, -1
		}
		b = AppendColumn(b, c.Name, oid, width, FormatOf(formats, i))
	}
	return End(b, at)
}

// AppendColumn describes one column of a RowDescription. A function's column has no table (0) and no column number (0).
// No column here has a type modifier (-1).
func AppendColumn(b []byte, name string, oid uint32, width int16, format uint16) []byte {
	b = append(b, name...)
	b = append(b, 0, 0, 0, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, oid)
	b = binary.BigEndian.AppendUint16(b, uint16(width))
	b = binary.BigEndian.AppendUint32(b, 0xffffffff)
	return binary.BigEndian.AppendUint16(b, format)
}

// AppendComplete writes the CommandComplete of an answer.
func AppendComplete(b []byte, rows int) []byte {
	b, at := Begin(b, BackendCommandComplete)
	b = append(b, "SELECT "...)
	b = strconv.AppendInt(b, int64(rows), 10)
	return End(append(b, 0), at)
}

// AppendReady writes the ReadyForQuery that ends a batch, with the transaction status.
func AppendReady(b []byte, status byte) []byte {
	b, at := Begin(b, BackendReadyForQuery)
	return End(append(b, status), at)
}

// AppendError writes an ErrorResponse. Its severity is ERROR, or FATAL if the session ends.
func AppendError(b []byte, severity string, e fault.Error) []byte {
	return appendFields(b, BackendErrorResponse, severity, e)
}

// AppendNotice writes a NoticeResponse. Its severity is WARNING, or a lower one.
func AppendNotice(b []byte, severity string, e fault.Error) []byte {
	return appendFields(b, BackendNoticeResponse, severity, e)
}

// appendFields writes each field that is not empty: https://www.postgresql.org/docs/current/protocol-error-fields.html.
// V is the severity in a form that is never translated.
func appendFields(b []byte, kind byte, severity string, e fault.Error) []byte {
	b, at := Begin(b, kind)
	for i, text := range [...]string{severity, severity, e.SQLState, e.Message, e.Detail, e.Hint} {
		if text != "" {
			b = append(append(append(b, "SVCMDH"[i]), text...), 0)
		}
	}
	return End(append(b, 0), at)
}
