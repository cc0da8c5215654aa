//go:build full && linux

package ha

import (
	"bufio"
	"strconv"
	"strings"
)

// metric returns the sum of a proxy's metric with these labels, or -1 if the proxy does not answer.
func (c *cluster) metric(proxy, name string, labels ...string) float64 {
	response, err := rest.Get("http://" + proxy + ":6533/metrics")
	if err != nil {
		return -1
	}
	defer response.Body.Close()
	sum := 0.0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		what, text, _ := strings.Cut(lines.Text(), " ")
		metric, of, _ := strings.Cut(what, "{")
		if metric != name || !containsAll(of, labels) {
			continue
		}
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			sum += value
		}
	}
	return sum
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
