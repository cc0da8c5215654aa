package charts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"pgflurry/bench/report"
)

// chart is one picture.
type chart struct {
	Name          string // of its files, without extension
	Width, Height vg.Length
	draw          func(draw.Canvas)
}

// preferredClients is the number of clients that charts of one number show. If it was not measured, they show the
// greatest.
const preferredClients = 16

// chartsOf makes the charts of a report. A task has charts if more than one contender did it.
func chartsOf(r *report.Report) ([]chart, error) {
	var all []chart
	for _, task := range tasks(r.Figures) {
		figures := ofTask(r.Figures, task)
		clients := numbersOfClients(figures)
		shown := clients[len(clients)-1]
		if slices.Contains(clients, preferredClients) {
			shown = preferredClients
		}
		at := slices.DeleteFunc(slices.Clone(figures), func(f report.Figure) bool { return f.Clients != shown })
		if len(at) < 2 {
			continue
		}
		some := func(has func(report.Figure) bool) bool { return slices.ContainsFunc(at, has) }
		for _, c := range []struct {
			name string
			has  bool
			make func() (chart, error)
		}{
			{"throughput", true, func() (chart, error) { return throughput(r, at) }},
			{"latency", some(func(f report.Figure) bool { return len(f.Latency) > 0 }), func() (chart, error) {
				return latency(r, at)
			}},
			{"cpu", some(func(f report.Figure) bool {
				return f.ServerCPU != nil && f.ServerCPU.Median > 0
			}), func() (chart, error) { return serverCPU(r, at) }},
			{"index", some(func(f report.Figure) bool { return f.Index != nil }), func() (chart, error) {
				return indexSize(r, at)
			}},
			{"memory", some(func(f report.Figure) bool { return f.Memory != nil }), func() (chart, error) {
				return memory(r, at)
			}},
			{r.ByWhat(), len(clients) > 1, func() (chart, error) { return byClients(r, figures, clients) }},
		} {
			if !c.has {
				continue
			}
			chart, err := c.make()
			if err != nil {
				return nil, fmt.Errorf("chart %s of %s: %w", c.name, task, err)
			}
			chart.Name = c.name + "-" + slug(task)
			all = append(all, chart)
		}
	}
	return all, nil
}

// resolution of a PNG, in dots per inch.
const resolution = 144

// save writes a chart as NAME.svg and NAME.png into an existing folder.
func (c chart) save(folder string) error {
	png := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(c.Width, c.Height), vgimg.UseDPI(resolution))}
	c.draw(draw.New(png))
	for ending, canvas := range map[string]vg.CanvasWriterTo{".svg": c.svg(), ".png": png} {
		file, err := os.Create(filepath.Join(folder, c.Name+ending))
		if err != nil {
			return err
		}
		_, err = canvas.WriteTo(file)
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	return nil
}

// svg is the chart as SVG.
func (c chart) svg() *svgCanvas {
	svg := newSVG(c.Width, c.Height)
	c.draw(draw.New(svg))
	return svg
}

// tasks are the tasks of the figures, in their order.
func tasks(figures []report.Figure) (all []string) {
	for _, f := range figures {
		if !slices.Contains(all, f.Task) {
			all = append(all, f.Task)
		}
	}
	return all
}

func ofTask(figures []report.Figure, task string) []report.Figure {
	return slices.DeleteFunc(slices.Clone(figures), func(f report.Figure) bool { return f.Task != task })
}

// numbersOfClients are in rising order.
func numbersOfClients(figures []report.Figure) (all []int) {
	for _, f := range figures {
		all = append(all, f.Clients)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// slug makes a file name of a task: letters and digits, with single dashes between.
func slug(task string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(task), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}

// caption describes the run, below the title of every chart.
func caption(r *report.Report, rounds int) string {
	what := fmt.Sprintf("medians and quartiles of %d rounds", rounds)
	if rounds == 1 {
		what = "1 round"
	}
	line := fmt.Sprintf("%s, %d CPUs, %s, %s; %s",
		r.Machine.Processor, r.Machine.CPUs, r.Machine.System, r.Began.UTC().Format("2006-01-02"), what)
	if r.Incomplete != "" {
		line += "\nINCOMPLETE: " + r.Incomplete
	}
	return line
}
