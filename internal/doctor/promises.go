package doctor

// Promises says which of pgflurry's promises hold on this server, as far as the checks show. It returns rows of the
// same form.
func Promises(f Facts, checks []Check) []Check {
	verdicts := make(map[string]Verdict)
	for _, c := range checks {
		verdicts[c.Name] = c.Verdict
	}
	return []Check{unique(verdicts), failover(verdicts), copies(verdicts), inserts(f)}
}

func unique(v map[string]Verdict) Check {
	const name = "promise: no ID twice after a restart or crash"
	switch {
	case v["durability"] == Fails || v["database"] == Fails || v["role's settings"] == Fails || v["version"] == Fails:
		return Check{name, "does not hold here", Fails, "Look at the checks that fail."}
	case v["unlogged sequences after"] == Fails || v["WAL timeline after"] == Fails:
		return Check{name, "did not hold here", Fails, "Look at the checks that fail."}
	}
	if v["durability"] == Unknown {
		return Check{name, "not shown: it needs a server that keeps what it acknowledges", Unknown, ""}
	}
	return Check{name, "holds", OK, ""}
}

func failover(v map[string]Verdict) Check {
	const name = "promise: no ID twice after a failover"
	switch {
	case v["replication"] == Warning && v["WAL timeline"] != OK:
		return Check{name, "does not hold: lost writes are not noticed", Fails, "Replicate synchronously."}
	case v["replication"] == Warning:
		return Check{name, "a second fault is needed for one twice", Warning, "Replicate synchronously."}
	case v["replication"] == Unknown:
		return Check{name, "holds if a failover loses no acknowledged write", Unknown, "See docs/install.md."}
	}
	return Check{name, "holds", OK, ""}
}

func copies(v map[string]Verdict) Check {
	const name = "promise: copies are noticed"
	if v["system identifier"] != OK {
		return Check{name, "dumps and templates only", Warning, "Declare clones and branches before they draw."}
	}
	return Check{
		name, "all but copies of the server's files", OK,
		"Declare snapshots, clones and branches before they draw: docs/copies.md.",
	}
}

func inserts(f Facts) Check {
	const name = "promise: DEFAULT next_snowflake()"
	switch {
	case f.Number < 150000:
		return Check{name, "not on this server", Fails, ""}
	case f.Standby:
		return Check{name, "not on a standby", Unknown, "Give the URL of the primary."}
	}
	return Check{name, "holds", OK, ""}
}
