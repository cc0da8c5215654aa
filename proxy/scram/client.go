package scram

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

// maxIterations limits what an answer to SCRAM costs, since the other side may be no PostgreSQL: a third of a second.
// PostgreSQL's default is 4096. A timeout would not help: nothing can interrupt the computation.
const maxIterations = 1_000_000

// Client is the client's side of one exchange.
type Client struct {
	mechanism    string
	conversation *scram.ClientConversation
}

// NewClient chooses the mechanism as libpq does. offered are the server's mechanisms, each ended by a zero byte. state
// is the TLS connection with the server; nil without TLS. The exchange names no user: PostgreSQL uses the one of the
// startup packet.
func NewClient(offered []byte, password string, state *tls.ConnectionState) (*Client, error) {
	without, plus := WithoutPlus(offered)
	if !bytes.Contains(append([]byte{0}, without...), []byte("\x00"+Plain+"\x00")) {
		return nil, fmt.Errorf("upstream offers %q; expected %s", offered, Plain)
	}
	client, err := scram.SHA256.NewClientUnprepped("", Prepare(password), "")
	if err != nil {
		return nil, err
	}
	client.WithMinIterations(1) // the server decides, by its setting scram_iterations
	if state == nil {
		return &Client{Plain, client.NewConversation()}, nil
	}
	if !plus {
		return &Client{Plain, client.NewConversationAdvertisingChannelBinding()}, nil
	}
	binding, err := scram.NewTLSServerEndpointBinding(state)
	if err != nil { // undefined for some signatures, such as Ed25519
		return &Client{Plain, client.NewConversation()}, nil
	}
	return &Client{Plus, client.NewConversationWithChannelBinding(binding)}, nil
}

// Mechanism is the mechanism that NewClient chose.
func (c *Client) Mechanism() string { return c.mechanism }

// Step answers the server's message; "" asks for the client's first message.
func (c *Client) Step(said string) (string, error) {
	if count := iterations(said); count > maxIterations {
		return "", fmt.Errorf("SCRAM with %d iterations; expected at most %d", count, maxIterations)
	}
	return c.conversation.Step(said)
}

// iterations reads the count in a server's first SCRAM message, r=nonce,s=salt,i=count. It is 0 if there is no number.
func iterations(said string) int {
	fields := strings.Split(said, ",")
	if len(fields) < 3 {
		return 0
	}
	count, err := strconv.Atoi(strings.TrimPrefix(fields[2], "i="))
	if err != nil {
		return 0 // the library reports what is wrong with it
	}
	return count
}
