package node

import (
	"context"
	"errors"

	"pgflurry/generator"
	"pgflurry/internal/admin"
	"pgflurry/internal/fault"
	"pgflurry/internal/report"
)

var _ admin.Node = (*Node)(nil)

// State is what the node knows now. It comes from memory: nobody holds one of its locks while waiting for a database or
// a client.
func (n *Node) State() report.State {
	s := report.State{
		At: n.clock.wall(), Started: n.phase.started, Version: n.settings.Version,
		Name: n.settings.Name, Address: n.address(), Upstream: n.settings.Upstream,
		LinesLost: n.settings.LinesLost(),
		Listening: n.phase.serving.Load() && !n.phase.draining.Load(), Draining: n.phase.draining.Load(),
	}
	read := n.phase.configured.Load()
	s.Certificates, s.Reloaded, s.NotReloaded = read.certificates, read.at, read.refused
	relayed := n.proxy.Stats()
	s.Answers, s.Sessions, s.Upstreams = relayed.Answers, relayed.Sessions, relayed.Upstreams
	n.upstream.fill(&s.Upstreams)
	n.fillIDDatabase(&s)
	for _, l := range n.databases.Listed() {
		s.Databases = append(s.Databases, l.State())
		s.Segments = append(s.Segments, l.Tags()...)
	}
	n.supply.fill(&s)
	if workers := n.supply.surveyed.Load(); workers != nil {
		s.Workers = *workers
	}
	return s
}

// Decode decodes an ID by the layout of the namespace.
func (n *Node) Decode(text string) (report.Decoded, error) {
	known := n.supply.known.Load()
	if known == nil {
		return report.Decoded{}, errLayoutUnknown
	}
	layout := known.namespace.Layout
	id, err := layout.ParseID(text)
	if err != nil {
		return report.Decoded{}, err
	}
	parts, err := layout.Decode(id)
	if err != nil {
		return report.Decoded{}, err
	}
	base32, err := generator.Base32(id)
	if err != nil {
		return report.Decoded{}, err
	}
	d := report.Decoded{
		ID: id, Base32: base32, Time: parts.Time, Worker: parts.Worker, Sequence: parts.Sequence,
		Function: known.namespace.Functions.Has(parts.Worker),
	}
	if layout.DatacenterBits > 0 {
		d.Datacenter = &parts.Datacenter
	}
	return d, nil
}

var errLayoutUnknown = fault.WithHint(
	errors.New("no ID can be taken apart yet: the namespace, which has the layout, was not read"),
	"The log says why the lease database could not be asked.")

// History asks the lease database who had a worker, the latest first. It asks one question at a time, over a connection
// of its own, for at most five seconds.
func (n *Node) History(ctx context.Context, worker int) ([]report.Tenure, error) {
	return n.supply.history(ctx, worker)
}
