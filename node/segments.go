package node

import (
	"context"
	"sync"

	"pgflurry/proxy"
	"pgflurry/segment"
)

// segmentSources holds one source of segments per database whose sessions may be answered. Each reserves its blocks
// where the sessions of its database go, through the upstream: in the very table that the function there draws from.
type segmentSources struct{ byDatabase map[string]*segment.Source }

// open makes the sources, before the first session. Nothing is connected until somebody wants numbers of a tag.
func (x *segmentSources) open(n *Node) error {
	x.byDatabase = make(map[string]*segment.Source, len(n.settings.Databases))
	for _, name := range n.settings.Databases {
		there := n.look.Copy()
		there.Database = name
		source, err := segment.New(segment.Settings{
			Open: func() segment.Store { return segment.NewPostgres(&there.Config) },
			Now:  n.clock.monotonic, Log: n.log.With("database", name),
		})
		if err != nil {
			return err
		}
		x.byDatabase[name] = source
	}
	return nil
}

func (x *segmentSources) of(database string) proxy.Segments {
	if source := x.byDatabase[database]; source != nil {
		return source
	}
	return nil
}

// run keeps all sources supplied until ctx ends.
func (x *segmentSources) run(ctx context.Context) {
	var running sync.WaitGroup
	for _, source := range x.byDatabase {
		running.Go(func() { source.Run(ctx) })
	}
	running.Wait()
}
