package conversation

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

func FuzzBindIsReadAsTheOtherCodecReadsIt(f *testing.F) {
	f.Add(join(z(""), z(""), make([]byte, 6)), false, false)
	binaryCount := []byte{0, 1, 0, 1, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 1}
	f.Add(join(z(""), z("s"), binaryCount), true, false)
	beforeTag := []byte{0, 1, 0, 1, 0, 1, 0, 0, 0, 5}
	f.Add(join(z(""), z("s"), beforeTag, []byte("order"), []byte{0, 0}), false, true)
	tagAndCount := []byte{0, 2, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 'x', 0, 0, 0, 1, '5', 0, 0}
	f.Add(join(z(""), z("s"), tagAndCount), true, true)
	f.Fuzz(func(t *testing.T, body []byte, count, named bool) {
		_, rest := wire.CutName(body)
		_, rest = wire.CutName(rest)
		form := &statement.Form{Columns: make([]statement.Column, 2), Rows: 3, CountParam: count}
		if named {
			form.Tag = &statement.Tag{Param: true}
		}
		b, ok := readBind(rest, form, wire.OIDInt8, nil)
		if !ok {
			return
		}
		var m pgproto3.Bind
		if err := m.Decode(body); err != nil {
			t.Fatalf("accepted a Bind the other codec refuses: %v", err)
		}
		if len(m.ResultFormatCodes) != len(b.formats) || len(m.Parameters) != form.Params() || b.rows < 1 ||
			b.rows*2 > statement.MaxIDs {
			t.Fatalf("read %+v of %+v", b, m)
		}
		if named && !bytes.Equal(b.tag, m.Parameters[0]) || !named && b.tag != nil {
			t.Fatalf("read the tag %q of %+v", b.tag, m)
		}
		for i, code := range m.ResultFormatCodes {
			if uint16(code) != b.formats[i] {
				t.Fatalf("formats %v of %+v", b.formats, m)
			}
		}
	})
}
