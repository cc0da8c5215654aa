package fault

// NewServer is what people read of a database on a server that is not known. It is no reason: a worker may be held.
var NewServer = Row{
	Log: "the server of this database is not known: it may be a copy beside its original",
	Hint: "If it is a copy and the original lives on, stop what draws here, and run " +
		`"pgflurry namespace join --database URL --home HOME --copy" or ` +
		`"pgflurry namespace separate --database URL --copy". ` +
		"If it has taken the place of the original, which is gone for good: " +
		`"pgflurry namespace move --database URL --no-other-draws", with --home HOME as well if it has joined.`,
	Do: "Say what the database is: a copy whose original lives on, with a worker of its own from HOME or an ID space " +
		"of its own; or the same one as before, on another server. Until then both may give the same IDs.",
	Commands: []string{
		"pgflurry namespace join --database URL --home HOME --copy",
		"pgflurry namespace separate --database URL --copy",
		"pgflurry namespace move --database URL --no-other-draws",
	},
}
