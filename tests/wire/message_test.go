package wire

import (
	"fmt"
	"strings"

	"github.com/jackc/pgproto3/v2"
)

// message is a message of a client: its bytes, and its name for a failed test.
type message struct {
	text  string
	bytes []byte
}

func encode(text string, m pgproto3.FrontendMessage) message {
	b, err := m.Encode(nil)
	if err != nil {
		panic(err)
	}
	return message{text, b}
}

func Query(sql string) message {
	return encode(fmt.Sprintf("Query(%q)", sql), &pgproto3.Query{String: sql})
}

func Parse(name, sql string, types ...uint32) message {
	return encode(fmt.Sprintf("Parse(%q, %q%s)", name, sql, list(types)),
		&pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: types})
}

// Bind binds without parameters. The rest are formats of the result.
func Bind(portal, statement string, formats ...int16) message {
	return encode(fmt.Sprintf("Bind(%q, %q%s)", portal, statement, list(formats)),
		&pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement, ResultFormatCodes: formats})
}

// values are the parameters of a Bind: nil is NULL.
type values [][]byte

func BindValues(portal, statement string, paramFormats []int16, v values, formats ...int16) message {
	return encode(fmt.Sprintf("BindValues(%q, %q, %v, %q%s)", portal, statement, paramFormats, v, list(formats)),
		&pgproto3.Bind{
			DestinationPortal: portal, PreparedStatement: statement,
			ParameterFormatCodes: paramFormats, Parameters: v, ResultFormatCodes: formats,
		})
}

func DescribePortal(name string) message {
	return encode(fmt.Sprintf("DescribePortal(%q)", name), &pgproto3.Describe{ObjectType: 'P', Name: name})
}

func DescribeStatement(name string) message {
	return encode(fmt.Sprintf("DescribeStatement(%q)", name), &pgproto3.Describe{ObjectType: 'S', Name: name})
}

func ClosePortal(name string) message {
	return encode(fmt.Sprintf("ClosePortal(%q)", name), &pgproto3.Close{ObjectType: 'P', Name: name})
}

func CloseStatement(name string) message {
	return encode(fmt.Sprintf("CloseStatement(%q)", name), &pgproto3.Close{ObjectType: 'S', Name: name})
}

// Execute asks for all rows.
func Execute(portal string) message {
	m := ExecuteMax(portal, 0)
	m.text = fmt.Sprintf("Execute(%q)", portal)
	return m
}

func ExecuteMax(portal string, rows uint32) message {
	return encode(fmt.Sprintf("ExecuteMax(%q, %d)", portal, rows), &pgproto3.Execute{Portal: portal, MaxRows: rows})
}

func CopyData(data string) message {
	return encode(fmt.Sprintf("CopyData(%q)", data), &pgproto3.CopyData{Data: []byte(data)})
}

func CopyFail(why string) message {
	return encode(fmt.Sprintf("CopyFail(%q)", why), &pgproto3.CopyFail{Message: why})
}

// FunctionCall calls a function of the catalog with text arguments, for a text result.
func FunctionCall(oid uint32, arguments ...string) message {
	f := &pgproto3.FunctionCall{Function: oid}
	for _, a := range arguments {
		f.Arguments = append(f.Arguments, []byte(a))
	}
	return encode(fmt.Sprintf("FunctionCall(%d, %q)", oid, arguments), f)
}

// Raw is a message that no codec would make.
func Raw(kind byte, body string) message {
	n := len(body) + 4
	return message{
		fmt.Sprintf("Raw(%q, %q)", kind, body),
		append([]byte{kind, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...),
	}
}

var (
	Sync      = encode("Sync", &pgproto3.Sync{})
	Flush     = encode("Flush", &pgproto3.Flush{})
	CopyDone  = encode("CopyDone", &pgproto3.CopyDone{})
	Terminate = encode("Terminate", &pgproto3.Terminate{})
)

// list formats the variadic rest of a call.
func list[T any](items []T) string {
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, ", %v", item)
	}
	return b.String()
}

func joinBytes(messages []message) (all []byte) {
	for _, m := range messages {
		all = append(all, m.bytes...)
	}
	return all
}

func joinText(messages []message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.text)
	}
	return strings.Join(all, ", ")
}
