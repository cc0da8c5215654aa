package fault

// NewServer is what people read of a database on a server that is not known. It is no reason: a worker may be held.
var NewServer = Row{
	Log: "the server of this database is not known: it may be a copy beside its original",
	Hint: "If it is a copy and the original lives on, stop what draws here, and run " +
		`"pgflurry migrate up --database URL --copy --join HOME" or ` +
		`"pgflurry migrate up --database URL --copy --new-namespace". ` +
		"If it has taken the place of the original, which is gone for good: " +
		`"pgflurry migrate up --database URL --moved --no-other-draws", with --join HOME as well if it has joined.`,
	Do: "Say what the database is: a copy whose original lives on, with a worker of its own from HOME or an ID space " +
		"of its own; or the same one as before, on another server. Until then both may give the same IDs.",
	Commands: []string{
		"pgflurry migrate up --copy --join HOME --database URL",
		"pgflurry migrate up --copy --new-namespace --database URL",
		"pgflurry migrate up --moved --no-other-draws --database URL",
	},
}
