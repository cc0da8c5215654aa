package statement

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/wasilibs/go-pgquery"
)

// The oracle is PostgreSQL's own parser. Its tree is decoded into types that have fields for answered forms only. So a
// WHERE, a DISTINCT or a second statement is an unknown field or a wrong length.
type (
	tree struct {
		Version int
		Stmts   []struct {
			Stmt    struct{ SelectStmt *selectTree }
			StmtLen int `json:"stmt_len"`
			StmtLoc int `json:"stmt_location"`
		}
	}
	selectTree struct {
		TargetList []struct {
			ResTarget struct {
				Name     string
				Val      node
				Location int
			}
		}
		FromClause []struct {
			RangeFunction struct {
				Functions []struct {
					List struct{ Items []node }
				}
				Alias *struct {
					Aliasname string
					Colnames  []node
				}
			}
		}
		LimitOption string
		Op          string
	}
	node struct {
		FuncCall *struct {
			Funcname   []node
			Args       []node
			Funcformat string
			Location   int
		}
		TypeCast *struct {
			Arg      node
			TypeName struct {
				Names    []node
				Typemod  int
				Location int
			}
			Location int
		}
		ColumnRef *struct {
			Fields   []node
			Location int
		}
		AStar  *struct{} `json:"A_Star"`
		AConst *struct {
			Ival     struct{ Ival int }
			Sval     *struct{ Sval string }
			Location int
		} `json:"A_Const"`
		Param  *struct{ Number, Location int } `json:"ParamRef"`
		String *struct{ Sval string }
	}
)

// oracle reads a statement as PostgreSQL does, and says which answered form it is.
func oracle(sql string) (Form, error) {
	text, err := pg_query.ParseToJSON(sql)
	if err != nil {
		return Form{}, err
	}
	var t tree
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return Form{}, fmt.Errorf("%w in %s", err, text)
	}
	if len(t.Stmts) != 1 || t.Stmts[0].Stmt.SelectStmt == nil {
		return Form{}, fmt.Errorf("not one SELECT: %s", text)
	}
	f, err := t.Stmts[0].Stmt.SelectStmt.form()
	if err != nil {
		return f, fmt.Errorf("%w in %s", err, text)
	}
	return f, nil
}

func (s *selectTree) form() (Form, error) {
	f := Form{Rows: 1}
	if s.Op != "SETOP_NONE" || s.LimitOption != "LIMIT_OPTION_DEFAULT" || len(s.FromClause) > 1 {
		return f, errors.New("not a plain SELECT")
	}
	if len(s.TargetList) == 1 && s.TargetList[0].ResTarget.Val.ColumnRef != nil {
		return f, s.ids(&f)
	}
	for _, target := range s.TargetList {
		c := Column{Name: "next_snowflake"}
		val := target.ResTarget.Val
		if cast := val.TypeCast; cast != nil {
			switch typ := dotted(cast.TypeName.Names); typ {
			case "text", "int8":
				c.Text = typ == "text"
				f.Names |= NamesOf(typ)
			case "pg_catalog.int8": // bigint
			default:
				return f, errors.New("cast to " + typ)
			}
			val = cast.Arg
		}
		switch {
		case val.FuncCall != nil && len(val.FuncCall.Args) == 0 && f.Tag == nil &&
			f.answers(val, "next_snowflake", "public"):
		case val.FuncCall != nil && len(val.FuncCall.Args) == 1 && (f.Tag != nil || len(f.Columns) == 0) &&
			f.answers(val, "next_segment", "pgflurry") && f.names(val.FuncCall.Args[0]):
			c.Name = "next_segment"
		default:
			return f, errors.New("not a call of next_snowflake() or next_segment(tag)")
		}
		if target.ResTarget.Name != "" {
			c.Name = target.ResTarget.Name
		}
		f.Columns = append(f.Columns, c)
	}
	if len(s.FromClause) == 0 {
		return f, nil
	}
	call, _, err := s.source()
	if err != nil {
		return f, err
	}
	if args := call.FuncCall.Args; dotted(call.FuncCall.Funcname) != "generate_series" || len(args) != 2 ||
		args[0].AConst == nil || args[0].AConst.Ival.Ival != 1 {
		return f, errors.New("not generate_series(1, n)")
	}
	f.Names |= NamesOf("generate_series")
	err = f.count(call.FuncCall.Args[1])
	f.Series = f.CountParam
	return f, err
}

func (s *selectTree) ids(f *Form) error {
	star := s.TargetList[0].ResTarget
	if len(star.Val.ColumnRef.Fields) != 1 || star.Val.ColumnRef.Fields[0].AStar == nil || star.Name != "" ||
		len(s.FromClause) != 1 {
		return errors.New("not SELECT * FROM one function")
	}
	call, name, err := s.source()
	if err != nil {
		return err
	}
	args := call.FuncCall.Args
	function := "next_snowflakes"
	switch {
	case len(args) == 1 && f.answers(call, function, "public"):
	case len(args) == 2 && f.answers(call, "next_segments", "pgflurry") && f.names(args[0]):
		function = "next_segments"
	case len(args) == 0 && f.answers(call, "next_snowflake", "public"):
		function = "next_snowflake"
	case len(args) == 1 && f.answers(call, "next_segment", "pgflurry") && f.names(args[0]):
		function = "next_segment"
	default:
		return errors.New("not one of the four functions")
	}
	if name == "" {
		name = function
	}
	f.Columns = []Column{{Name: name}}
	if function == "next_snowflake" || function == "next_segment" {
		return nil
	}
	return f.count(args[len(args)-1])
}

// source is the one function of the FROM clause, and the name that an alias gives to its column.
func (s *selectTree) source() (call node, name string, err error) {
	from := s.FromClause[0].RangeFunction
	if len(from.Functions) != 1 || len(from.Functions[0].List.Items) != 2 ||
		from.Functions[0].List.Items[0].FuncCall == nil ||
		!reflect.DeepEqual(from.Functions[0].List.Items[1], node{}) {
		return call, "", errors.New("not one plain function in FROM")
	}
	if a := from.Alias; a != nil {
		name = a.Aliasname
		switch len(a.Colnames) {
		case 0:
		case 1:
			name = dotted(a.Colnames)
		default:
			return call, "", errors.New("more than one column name")
		}
	}
	return from.Functions[0].List.Items[0], name, nil
}

// answers says whether this is a function of that name: in its schema, in public, or without a schema.
func (f *Form) answers(call node, name, schema string) bool {
	function := dotted(call.FuncCall.Funcname)
	f.Names |= NamesOf(function)
	if function != schema+"."+name && function != name && function != "public."+name {
		return false
	}
	f.Function = name
	return true
}

// names takes the tag. Each call must have the same one.
func (f *Form) names(n node) bool {
	t := &Tag{}
	switch {
	case n.Param != nil && n.Param.Number == 1:
		t.Param = true
	case n.AConst != nil && n.AConst.Sval != nil && n.AConst.Sval.Sval != "":
		t.Text = []byte(n.AConst.Sval.Sval)
	default:
		return false
	}
	if f.Tag == nil {
		f.Tag = t
	}
	return reflect.DeepEqual(f.Tag, t)
}

// number is the value of an integer, or of a string of digits, which becomes one; else 0.
func (n node) number() int {
	switch {
	case n.AConst == nil:
		return 0
	case n.AConst.Sval == nil:
		return n.AConst.Ival.Ival
	case strings.Trim(n.AConst.Sval.Sval, "0123456789") != "":
		return 0
	}
	if number, err := strconv.Atoi(n.AConst.Sval.Sval); err == nil {
		return number
	}
	return 0
}

func (f *Form) count(n node) error {
	switch {
	case n.Param != nil && n.Param.Number == 1+f.Params():
		f.Rows, f.CountParam = 0, true
	case n.number() >= 1 && n.number()*len(f.Columns) <= 10_000:
		f.Rows = n.number()
	default:
		return errors.New("the count is neither $1 nor within 1 and 10000 IDs")
	}
	return nil
}

// dotted joins names so that a dot within a name differs from one between names.
func dotted(names []node) string {
	var all []string
	for _, n := range names {
		if n.String == nil || strings.Contains(n.String.Sval, ".") && len(names) > 1 {
			return "?"
		}
		all = append(all, n.String.Sval)
	}
	return strings.Join(all, ".")
}

// checkSound asserts the one direction that matters: if Match says that a text is an answered form, PostgreSQL reads
// the same form.
func checkSound(t interface {
	Helper()
	Fatalf(string, ...any)
}, sql string,
) (matched bool) {
	t.Helper()
	got, ok := Match([]byte(sql))
	if !ok {
		return false
	}
	want, err := oracle(sql)
	if err != nil {
		t.Fatalf("Match(%q) = %+v, but PostgreSQL's parser: %v", sql, *got, err)
	}
	if !reflect.DeepEqual(*got, want) {
		t.Fatalf("Match(%q) = %+v, but PostgreSQL's parser reads %+v", sql, *got, want)
	}
	return true
}

func TestPostgreSQLsParserAgreesWithTheTable(t *testing.T) {
	for _, c := range answered {
		if !checkSound(t, c.sql) {
			t.Errorf("Match(%q) is false", c.sql)
		}
	}
	for _, sql := range forwarded {
		checkSound(t, sql)
	}
}

// These are all keywords of PostgreSQL's grammar, in each place of a name. Here Match and the parser must agree in both
// directions.
func TestMatchTreatsEveryKeywordAsPostgreSQLDoes(t *testing.T) {
	scan, err := pg_query.Scan("select")
	if err != nil {
		t.Fatal(err)
	}
	names := scan.Tokens[0].Token.Descriptor().Values()
	keywords := 0
	for i := range names.Len() {
		word := strings.ToLower(strings.TrimSuffix(string(names.Get(i).Name()), "_P"))
		if scan, err = pg_query.Scan(word); err != nil || len(scan.Tokens) != 1 || scan.Tokens[0].KeywordKind == 0 {
			continue
		}
		keywords++
		for _, shape := range []string{
			"SELECT next_snowflake() %s", "SELECT next_snowflake() AS %s",
			"SELECT next_snowflake() %s, next_snowflake()", "SELECT next_snowflake() %s FROM generate_series(1, 2)",
			"SELECT next_snowflake()::text %s", "SELECT next_snowflake()::bigint %s;",
			"SELECT next_snowflake() FROM generate_series(1, 2) %s",
			"SELECT next_snowflake() FROM generate_series(1, 2) AS %s;",
			"SELECT next_snowflake() FROM generate_series(1, 2) g(%s)",
			"SELECT next_snowflake() FROM generate_series(1, 2) %s(i)", "SELECT * FROM next_snowflakes(2) %s",
			"SELECT next_segment('a') %s", "SELECT * FROM next_segments($1, $2) %s",
		} {
			sql := fmt.Sprintf(shape, word)
			_, err := oracle(sql)
			if matched := checkSound(t, sql); matched != (err == nil) {
				t.Errorf("Match(%q) = %v, but PostgreSQL's parser: %v", sql, matched, err)
			}
		}
	}
	if keywords < 450 {
		t.Errorf("only %d keywords found; PostgreSQL 15 has 471", keywords)
	}
}

// FuzzMatch looks for a statement that Match answers and PostgreSQL reads as something else.
func FuzzMatch(f *testing.F) {
	if _, err := pg_query.Parse("SELECT 1"); err != nil { // it is compiled now, which takes longer than a text may
		f.Fatal(err)
	}
	for _, c := range answered {
		f.Add(c.sql)
	}
	for _, sql := range forwarded {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		checkSound(t, sql)
	})
}
