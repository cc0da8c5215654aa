package command

import "pgflurry/proxy/statement"

// cut returns the next statement without surrounding space. It is empty if nothing comes before the semicolon or the
// end. scan reads sql.
func cut(scan *statement.Scanner, sql []byte) (text []byte, end bool, err error) {
	start, stop := -1, 0
	for {
		switch kind := scan.Next(); kind {
		case statement.KindBad:
			return nil, false, syntaxNear(scan.Problem(), scan)
		case ';', statement.KindEnd:
			return sql[max(start, 0):stop], kind == statement.KindEnd, nil
		}
		if start < 0 {
			start = scan.Start
		}
		stop = scan.Stop
	}
}
