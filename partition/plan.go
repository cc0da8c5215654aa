package partition

import "fmt"

// A Plan is what a run does, in order.
type Plan struct {
	Steps []Step
	Notes []string // what stays as it is, and why
	Reach string   // until when there are partitions afterwards
	facts Facts
}

// Plan says what is to be done. What makes partitions comes first, because a lack of them stops the application.
func (f Facts) Plan() Plan {
	p := Plan{facts: f}
	ahead := f.starts[f.settings.Keep:]
	p.Reach = fmt.Sprintf("%s (%s)", f.when(max(ahead[len(ahead)-1].id, f.end())), f.settings.Zone)
	made := missing(f.parts, ahead)
	for _, s := range made {
		p.add(f.create(s))
	}
	attached := p.finalize()
	for _, s := range missing(with(attached, made), ahead) { // where the interrupted detach leaves a hole
		p.add(f.create(s))
	}
	p.unmark()
	if f.settings.Keep > 0 {
		p.drop(f.starts[0].id)
	}
	return p
}

// end is where the last partition ends.
func (f Facts) end() int64 {
	if len(f.parts) == 0 {
		return minValue
	}
	return f.parts[len(f.parts)-1].high
}

func (p *Plan) add(s Step) { p.Steps = append(p.Steps, s) }

// finalize completes an interrupted detach, and returns the partitions that are attached afterwards.
func (p *Plan) finalize() (attached []part) {
	for _, each := range p.facts.parts {
		if each.pending {
			p.add(p.facts.finalize(each))
		} else {
			attached = append(attached, each)
		}
	}
	return attached
}

// due says whether a partition is older than what is kept. One that begins below the first ID may hold old keys, which
// have no time.
func (f Facts) due(old part, cutoff int64) bool {
	return f.settings.Keep > 0 && old.high <= cutoff && old.low >= f.first
}

// drop adds the drops: first what earlier runs have left, then the oldest.
func (p *Plan) drop(cutoff int64) {
	f := p.facts
	for _, l := range f.left {
		if l.high <= cutoff {
			p.add(f.dropLeft(l.name))
		} else {
			p.note("%s was detached by an earlier run, which kept less. Attach it, or end its comment: "+
				"it is not dropped now", f.shown(l.name))
		}
	}
	for _, each := range f.parts {
		switch {
		case !f.due(each, cutoff):
		case each.kind != "r":
			p.note("%s is old, and stays: it is no ordinary table", f.shown(each.name))
		case each.others:
			p.note("%s is old, and stays: its owner is not that of the table", f.shown(each.name))
		case !each.pending:
			p.add(f.drop(each))
		case each.marked:
			p.add(f.dropLeft(each.name))
		}
	}
}

// unmark takes the comment from partitions that an ended run was about to detach, and that are kept now.
func (p *Plan) unmark() {
	for _, each := range p.facts.parts {
		if each.marked && !each.pending && !p.facts.due(each, p.facts.starts[0].id) {
			p.add(p.facts.unmark(each))
		}
	}
}

func (p *Plan) note(format string, values ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, values...))
}
