package serve

import (
	"net/url"
	"strings"
)

// database is the name of the database of a URL.
func database(direct string) string {
	u, err := url.Parse(direct)
	if err != nil {
		panic(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}
