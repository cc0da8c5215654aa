package statement

// NeedsAs reports whether a word can name a column only after AS. These are the words of pg_get_keywords() with
// barelabel = false, the same in each version from 15 on. Other keywords need no AS.
func NeedsAs[T string | []byte](word T) bool {
	switch string(word) {
	case "array", "as", "char", "character", "create", "day", "except", "fetch", "filter", "for", "from", "grant",
		"group", "having", "hour", "intersect", "into", "isnull", "limit", "minute", "month", "notnull", "offset", "on",
		"order", "over", "overlaps", "precision", "returning", "second", "to", "union", "varying", "where", "window",
		"with", "within", "without", "year":
		return true
	}
	return false
}

// IsReserved reports whether a word cannot name a table. These are the words of pg_get_keywords() with catcode R or T,
// in any version from 15 on.
func IsReserved[T string | []byte](word T) bool {
	switch string(word) {
	case "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast", "check",
		"collate", "column", "constraint", "create", "current_catalog", "current_date", "current_role", "current_time",
		"current_timestamp", "current_user", "default", "deferrable", "desc", "distinct", "do", "else", "end", "except",
		"false", "fetch", "for", "foreign", "from", "grant", "group", "having", "in", "initially", "intersect", "into",
		"lateral", "leading", "limit", "localtime", "localtimestamp", "not", "null", "offset", "on", "only", "or",
		"order", "placing", "primary", "references", "returning", "select", "session_user", "some", "symmetric",
		"system_user", "table", "then", "to", "trailing", "true", "union", "unique", "user", "using", "variadic",
		"when", "where", "window", "with", "authorization", "binary", "collation", "concurrently", "cross",
		"current_schema", "freeze", "full", "ilike", "inner", "is", "isnull", "join", "left", "like", "natural",
		"notnull", "outer", "overlaps", "right", "similar",
		"tablesample", "verbose":
		return true
	}
	return false
}
