//go:build full && linux

package ha

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pgflurry/tests/support/server"
)

// The answers of Patroni's REST API.

// status is the answer of one server about itself: GET /patroni.
type status struct {
	State       string `json:"state"`
	Role        string `json:"role"` // "master" or "replica"
	Timeline    int    `json:"timeline"`
	Replication []struct {
		Name  string `json:"application_name"`
		State string `json:"state"`
		Sync  string `json:"sync_state"`
	} `json:"replication"`
}

func (s status) primary() bool {
	return (s.Role == "master" || s.Role == "primary") && s.State == "running"
}

// members is the answer of one server about all: GET /cluster.
type members struct {
	Members []struct {
		Name string `json:"name"`
		Role string `json:"role"` // "leader", "sync_standby" or "replica"
	} `json:"members"`
}

// rest never reuses a connection: the machine may be gone at the next question.
var rest = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

const restUser, restPassword = "patroni", "an operator"

func (c *cluster) ask(host, path string, answer any) error {
	response, err := rest.Get("http://" + host + ":8008" + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(answer)
}

// tell sends Patroni an order and returns its answer.
func (c *cluster) tell(method, host, path string, order any) (string, error) {
	body, err := json.Marshal(order)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequest(method, "http://"+host+":8008"+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.SetBasicAuth(restUser, restPassword)
	patient := *rest
	patient.Timeout = c.patience
	response, err := patient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, said)
	}
	return string(said), err
}

// state is the state of the cluster at a moment, as far as a fault needs it.
type state struct {
	primary  string
	timeline int
}

// healthy returns the state of a cluster that has one primary, which all others follow. The mode may also demand a
// synchronous standby. Otherwise the error says what is missing.
func (c *cluster) healthy() (state, error) {
	var now state
	all := map[string]status{}
	for _, db := range dbs {
		var s status
		if err := c.ask(db, "/patroni", &s); err != nil {
			return now, fmt.Errorf("%s: %w", db, err)
		}
		if s.State != "running" {
			return now, fmt.Errorf("%s is %s", db, s.State)
		}
		if s.primary() {
			if now.primary != "" {
				return now, fmt.Errorf("both %s and %s are primary", now.primary, db)
			}
			now = state{db, s.Timeline}
		}
		all[db] = s
	}
	if now.primary == "" {
		return now, fmt.Errorf("no server is primary")
	}
	if !c.hasKey(now.primary) {
		return now, noKey{now.primary}
	}
	synchronous := 0
	for _, standby := range all[now.primary].Replication {
		if standby.State == "streaming" && all[standby.Name].Timeline == now.timeline {
			delete(all, standby.Name)
			if standby.Sync == "sync" || standby.Sync == "quorum" {
				synchronous++
			}
		}
	}
	delete(all, now.primary)
	if len(all) > 0 {
		return now, notFollowing{now.primary, slices.Sorted(maps.Keys(all))}
	}
	return now, c.synchronous(now.primary, synchronous)
}

// hasKey asks in the same way as HAProxy.
func (c *cluster) hasKey(name string) bool {
	response, err := rest.Get("http://" + name + ":8008/primary")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// synchronous says what the mode lacks. A standby counts only if etcd has its name, because Patroni promotes no other.
func (c *cluster) synchronous(primary string, streaming int) error {
	if c.mode == asynchronous {
		return nil
	}
	var m members
	if err := c.ask(primary, "/cluster", &m); err != nil {
		return err
	}
	for _, member := range m.Members {
		if member.Role == "sync_standby" && streaming > 0 {
			return nil
		}
	}
	return noStandby{primary}
}

// settled waits until all is well. After a while it does what an operator must do.
func (c *cluster) settled() state {
	c.t.Helper()
	var now state
	since := time.Now()
	c.until(func() (err error) {
		now, err = c.healthy()
		if err != nil && time.Since(since) > c.patience/6 && c.operate(err) {
			since = time.Now()
		}
		return err
	})
	return now
}

// notFollowing is the error of standbys that do not follow the primary.
type notFollowing struct {
	primary string
	names   []string
}

func (n notFollowing) Error() string { return fmt.Sprintf("%v do not follow %s", n.names, n.primary) }

// noStandby is the error of a primary without a synchronous standby.
type noStandby struct{ primary string }

func (n noStandby) Error() string { return n.primary + " has no synchronous standby" }

// noKey is the error of a primary that does not have the key in etcd.
type noKey struct{ primary string }

func (n noKey) Error() string { return n.primary + " is primary, and has not the key in etcd" }

// operate does what Patroni 3.0.2 does not do by itself. It says whether it did something.
func (c *cluster) operate(err error) bool {
	c.t.Helper()
	if alone := (noStandby{}); errors.As(err, &alone) {
		// This Patroni may keep keys of etcd from before a partition. Then it says for ever "Synchronous replication
		// key updated by someone else".
		c.restart(alone.primary)
		return true
	}
	if without := (noKey{}); errors.As(err, &without) {
		// Its clock was set back, so Patroni sleeps until the hour that it had planned. It still reports that it lives,
		// so no standby takes over.
		c.restart(without.primary)
		return true
	}
	if left := (notFollowing{}); errors.As(err, &left) {
		// The standby may have got more WAL of the old primary than the new one did. PostgreSQL cannot undo that while
		// it runs.
		for _, name := range left.names {
			said, err := c.tell("POST", name, "/reinitialize", map[string]any{"force": true})
			c.t.Logf("%s is copied anew: %s %v", name, strings.TrimSpace(said), err)
			c.copies++
		}
		return true
	}
	return false
}

func (c *cluster) restart(name string) {
	c.t.Helper()
	c.t.Logf("Patroni of %s is started again", name)
	c.services[name].Kill()
	c.start(name)
	c.restarts++
}

// elsewhere waits until another server is the primary, on a higher timeline. Without synchronous mode that may never
// happen: a server that hears that the old primary lives and has more WAL leaves the lead to it.
func (c *cluster) elsewhere(old state) {
	c.t.Helper()
	deadline := time.Now().Add(c.patience)
	if c.mode == asynchronous {
		deadline = time.Now().Add(c.patience / 6)
	}
	c.untilBy(deadline, func() error {
		if c.moved(old) {
			return nil
		}
		err := fmt.Errorf("no server but %s became primary, on a timeline above %d", old.primary, old.timeline)
		if c.mode == asynchronous && time.Now().After(deadline) {
			c.t.Logf("after %v: %v", c.patience/6, err)
			return nil
		}
		return err
	})
}

// moved says whether another server is primary on a later timeline.
func (c *cluster) moved(old state) bool {
	return slices.ContainsFunc(others(old), func(name string) bool {
		var s status
		return c.ask(name, "/patroni", &s) == nil && s.primary() && s.Timeline > old.timeline
	})
}

// until repeats the condition until it returns no error. In the end it fails with the last error.
func (c *cluster) until(condition func() error) {
	c.t.Helper()
	c.untilBy(time.Now().Add(c.patience), condition)
}

func (c *cluster) untilBy(deadline time.Time, condition func() error) {
	c.t.Helper()
	begun := time.Now()
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("after %v: %v\n%s", time.Since(begun), err, c.ends())
		}
		server.Pause(c.t.Context(), 50*time.Millisecond)
	}
}

// ends returns the last lines of each log.
func (c *cluster) ends() string {
	var b strings.Builder
	for _, name := range c.names() {
		lines := strings.Split(strings.TrimSpace(c.services[name].Log()), "\n")
		fmt.Fprintf(&b, "%s:\n  %s\n", name, strings.Join(lines[max(0, len(lines)-6):], "\n  "))
	}
	return b.String()
}
