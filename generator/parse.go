package generator

import (
	"errors"
	"fmt"
	"strconv"
)

// ParseID reads an ID of this layout as people write it: as a decimal number, or in base32. 13 or 14 digits can be
// either. If both readings are IDs of the layout, ParseID does not guess: its error says how to write each. A plus sign
// makes the text decimal, because base32 has no sign. A hyphen within makes it base32.
func (l Layout) ParseID(text string) (int64, error) {
	decimal, notDecimal := strconv.ParseInt(text, 10, 64)
	base32, notBase32 := readBase32(text)
	noID, noID32 := notDecimal, notBase32
	if noID == nil {
		_, noID = l.Decode(decimal)
	}
	if noID32 == nil {
		_, noID32 = l.Decode(base32)
	}
	switch {
	case noID == nil && noID32 == nil && decimal != base32:
		return 0, fmt.Errorf("%q is ID %d as a decimal number, and ID %d as base32; write +%s or %s-%s",
			text, decimal, base32, text, text[:5], text[5:])
	case noID == nil:
		return decimal, nil
	case noID32 == nil:
		return base32, nil
	case notDecimal == nil: // a number, but not an ID of this layout
		return 0, noID
	case notBase32 == nil:
		return 0, fmt.Errorf("%q is not an ID: as base32 %w", text, noID32)
	case errors.Is(notDecimal, strconv.ErrRange):
		return 0, fmt.Errorf("%.40q is not an ID: expected a number below 2^63", text)
	}
	return 0, fmt.Errorf("%.40q is not an ID: it is no whole decimal number, and as base32 %w", text, notBase32)
}
