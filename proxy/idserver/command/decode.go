package command

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"pgflurry/internal/fault"
)

// Decode reads the value of a parameter, of a type that Types returned. nil is NULL. Of a type that only a Catalog
// has, just the text is kept.
func Decode(oid uint32, format uint16, raw []byte) (Value, error) {
	switch _, known := typeOf(oid); {
	case raw == nil, !known && format == 1:
		return Null(oid), nil
	case !known:
		text, err := decodeText(raw)
		return Value{oid: oid, text: text}, err
	case format == 0:
		text, err := decodeText(raw)
		if err != nil {
			return Value{}, err
		}
		return Value{oid: Unknown, text: text}.To(oid)
	case kindOf(oid) == kindString:
		text, err := decodeText(raw)
		return Value{oid: oid, text: text}, err
	}
	return decodeBinary(oid, raw)
}

// decodeBinary reads a value of fixed width.
func decodeBinary(oid uint32, raw []byte) (Value, error) {
	info, _ := typeOf(oid)
	if len(raw) != int(info.width) {
		code := codeBinary
		if len(raw) < int(info.width) {
			code = codeProtocol // PostgreSQL calls it a message that is too short
		}
		return Value{}, fault.Errorf(code, "", "incorrect binary data format of a parameter: a %s has %d bytes, not %d",
			info.name, info.width, len(raw))
	}
	v := Value{oid: oid}
	switch oid {
	case Bool:
		if raw[0] != 0 {
			v.number = 1
		}
	case Int2:
		v.number = int64(int16(binary.BigEndian.Uint16(raw)))
	case Int4:
		v.number = int64(int32(binary.BigEndian.Uint32(raw)))
	case Int8:
		v.number = int64(binary.BigEndian.Uint64(raw))
	}
	return v, nil
}

func decodeText(raw []byte) (string, error) {
	if err := encoded(raw); err != nil {
		return "", err
	}
	return string(raw), nil
}

// encoded refuses bytes that are no text in PostgreSQL, which checks this before it parses.
func encoded(sql []byte) error {
	if i := bytes.IndexByte(sql, 0); i >= 0 {
		return fault.Errorf(codeNotInRepertoire, "", `invalid byte sequence for encoding "UTF8": 0x00`)
	}
	for rest := sql; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return fault.Errorf(codeNotInRepertoire, "Send UTF-8: this database knows no other encoding.",
				`invalid byte sequence for encoding "UTF8": 0x%02x`, rest[0])
		}
		rest = rest[size:]
	}
	return nil
}
