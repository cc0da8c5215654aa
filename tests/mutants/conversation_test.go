package mutants

// inConversation has guards of what the proxy must know of both sides before it answers. Package
// conversation has a test against a model of PostgreSQL, which notices each mutant.
var inConversation = []mutant{
	{
		guard: "upstream owes nothing", file: "proxy/internal/conversation/conversation.go",
		from: "return c.owed.Load() == 0 && (c.status == wire.StatusIdle ||",
		to:   "return (c.status == wire.StatusIdle ||",
	},
	{
		guard: "the transaction has not failed", file: "proxy/internal/conversation/conversation.go",
		from: "|| c.status == wire.StatusTransaction)", to: "|| c.status != 0)",
	},
	{
		guard: "a Query drops the unnamed statement", file: "proxy/internal/conversation/conversation.go",
		from: "c.statements.unnamed, c.unnamed.parse = nil, c.unnamed.parse[:0]", to: "_ = 0",
	},
	{
		guard: "so does one that was answered", file: "proxy/internal/conversation/conversation.go",
		from: "\tc.statements.unnamed = nil\n\tc.unnamed.statementDiffers, c", to: "\tc.unnamed.statementDiffers, c",
	},
	{
		guard: "a batch is whole", file: "proxy/internal/conversation/batch.go",
		from: "if len(body) > 0 || u == nil || u.stage != executed ||", to: "if len(body) > 0 || u == nil ||",
	},
	{
		guard: "an older statement is closed", file: "proxy/internal/conversation/unnamed.go",
		from: "before = append(before, wire.CloseUnnamedStatement...)\n\t\t" +
			"e.drops |= unnamedStatement\n\t\te.ownCloses++",
		to: "_ = 0",
	},
	{
		guard: "an older portal is closed", file: "proxy/internal/conversation/unnamed.go",
		from: "before = append(before, wire.CloseUnnamedPortal...)\n\t\te.drops |= unnamedPortal\n\t\te.ownCloses++",
		to:   "_ = 0",
	},
	{
		guard: "a FunctionCall finds no older portal", file: "proxy/internal/conversation/conversation.go",
		from: "if before = c.unnamed.putRight(&own, &c.statements, kind, body, whole); len(before) > 0 {",
		to:   "if before = nil; len(before) > 0 {",
	},
	{
		guard: "what cannot be decoded drops nothing", file: "proxy/internal/conversation/known.go",
		from: "return r >= utf8.RuneSelf", to: "return false && r >= utf8.RuneSelf",
		test: "TheNextExtendedBatch", in: "proxy", // too rare for the model
	},
	{
		guard: "a Parse that was answered is sent where it is used", file: "proxy/internal/conversation/unnamed.go",
		from: "case usesUnnamed(kind, body, whole):", to: "case false:",
	},
	{
		guard: "a Close that was skipped has closed nothing", file: "proxy/internal/conversation/replies.go",
		from: "if !e.failed {\n\t\tc.unnamed.there", to: "{\n\t\tc.unnamed.there",
	},
	{
		guard: "a name is 63 bytes", file: "proxy/internal/conversation/known.go",
		from: "string(name[:min(len(name), wire.NameBytes)])", to: "string(name)",
	},
	{
		guard: "a statement of a batch that failed is not", file: "proxy/internal/conversation/replies.go",
		from: "\t\tif e.failed {\n\t\t\tk.state = dead", to: "\t\tif false {\n\t\t\tk.state = dead",
	},
	{
		guard: "what deallocates says so", file: "proxy/internal/conversation/replies.go",
		from: "if forgets(body) {", to: "if false {",
	},
	{
		guard: "or fails", file: "proxy/internal/conversation/replies.go",
		from: "e.failed && (e.risky || c.risky) {", to: "false {",
	},
	{
		guard: "a function that is called may do it", file: "proxy/internal/conversation/replies.go",
		from: "if e.of == owesCall || e.failed", to: "if e.failed",
	},
	{
		guard: "a Parse forgets the name it takes", file: "proxy/internal/conversation/conversation.go",
		from: "\tc.statements.forget(name)\n\tc.risky", to: "\tc.risky",
	},
}
