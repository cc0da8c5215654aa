package namespace

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// elsewhereTime limits the question to one proxy.
const elsewhereTime = 2 * time.Second

// Elsewhere says where proxies still answer that held a worker here when the server was started, and have not renewed
// it since. On a copy of the server's files they may be those of the original, which then lives. It asks a few
// addresses at once, with the first message of a client, and hangs up. own is the caller's address, which is left out.
func Elsewhere(ctx context.Context, conn *pgx.Conn, own string) ([]string, error) {
	rows, err := conn.Query(ctx, sql.HoldersBefore, own)
	if err != nil {
		return nil, err
	}
	type holder struct {
		Node    string
		Worker  int
		Address string
	}
	holders, err := pgx.CollectRows(rows, pgx.RowToStructByPos[holder])
	if err != nil {
		return nil, err
	}
	answered := make([]bool, len(holders))
	var asked sync.WaitGroup
	for i, h := range holders {
		asked.Go(func() { answered[i] = answers(ctx, h.Address) })
	}
	asked.Wait()
	var all []string
	for i, h := range holders {
		if answered[i] {
			all = append(all, fmt.Sprintf("%s, where node %s held worker %d", h.Address, h.Node, h.Worker))
		}
	}
	return all, nil
}

// answers reports whether something at an address answers a request for TLS as PostgreSQL and its proxies do.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, elsewhereTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(elsewhereTime))
	if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil { // SSLRequest
		return false
	}
	var answer [1]byte
	_, err = conn.Read(answer[:])
	return err == nil && (answer[0] == 'S' || answer[0] == 'N')
}
