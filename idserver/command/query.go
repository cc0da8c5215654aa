package command

import "pgflurry/proxy/statement"

// query reads from SELECT to the end of the statement.
func (p *parser) query() (Query, error) {
	if !p.at("select") {
		return nil, p.refuse()
	}
	if form, ok := statement.Match(p.text[p.scan.Start:]); ok {
		for p.kind != statement.KindEnd {
			p.next()
		}
		return Draw{form}, nil
	}
	text := p.text[p.scan.Start:]
	query, err := p.selectList()
	if err == nil {
		return query, nil
	}
	found, is := lookUp(text)
	if !is {
		return nil, err
	}
	for p.kind != statement.KindEnd {
		p.next()
	}
	return found, nil
}
