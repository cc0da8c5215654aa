package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/fault"
	"pgflurry/proxy/statement"
)

// Our own code writes the same bytes as pgproto3.
func TestTheMessagesOfAnAnswerAreThoseOfTheCodec(t *testing.T) {
	form, ok := statement.Match([]byte("SELECT next_snowflake(), next_snowflake()::text AS t"))
	if !ok {
		t.Fatal("the form is not known")
	}
	row, at := Begin(nil, BackendDataRow)
	row = binary.BigEndian.AppendUint16(row, 2)
	row = AppendID(AppendID(row, math.MaxInt64, false, 1), 42, true, 1)
	failed := fault.Error{SQLState: "08P01", Message: "no", Detail: "Why.", Hint: "Do."}
	for name, c := range map[string]struct {
		ours  []byte
		codec interface{ Encode([]byte) ([]byte, error) }
	}{
		"RowDescription": {AppendRowDescription(nil, form, []uint16{1, 0}), &pgproto3.RowDescription{
			Fields: []pgproto3.FieldDescription{
				{Name: []byte("next_snowflake"), DataTypeOID: 20, DataTypeSize: 8, TypeModifier: -1, Format: 1},
				{Name: []byte("t"), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1},
			},
		}},
		"DataRow": {End(row, at), &pgproto3.DataRow{
			Values: [][]byte{{0x7f, 255, 255, 255, 255, 255, 255, 255}, []byte("42")},
		}},
		"CommandComplete": {AppendComplete(nil, 10_000), &pgproto3.CommandComplete{CommandTag: []byte("SELECT 10000")}},
		"ReadyForQuery":   {AppendReady(nil, StatusFailed), &pgproto3.ReadyForQuery{TxStatus: 'E'}},
		"ErrorResponse": {AppendError(nil, "FATAL", failed), &pgproto3.ErrorResponse{
			Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "08P01", Message: "no", Detail: "Why.", Hint: "Do.",
		}},
		"NoticeResponse": {AppendNotice(nil, "WARNING", fault.New("25P01", "none", "")), &pgproto3.NoticeResponse{
			Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: "25P01", Message: "none",
		}},
	} {
		if want := Encoded(c.codec); !bytes.Equal(c.ours, want) {
			t.Errorf("%s: %q; the codec writes %q", name, c.ours, want)
		}
	}
}

func TestAParameterIsTakenWholeOrNotAtAll(t *testing.T) {
	for in, want := range map[string]struct {
		value string
		ok    bool
	}{
		"\x00\x00\x00\x02abc": {"ab", true},
		"\x00\x00\x00\x00":    {"", true},
		"\xff\xff\xff\xff":    {"", false}, // NULL
		"\x00\x00\x00\x04abc": {"", false},
		"\x00\x00":            {"", false},
	} {
		if value, _, ok := CutParam([]byte(in)); ok != want.ok || string(value) != want.value {
			t.Errorf("%q gives %q, %v; expected %q, %v", in, value, ok, want.value, want.ok)
		}
	}
}
