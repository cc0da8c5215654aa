package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"pgflurry/report"
)

// idFamilies are the metrics of the ID database. Without an ID database they have no samples.
var idFamilies = []family{
	ofIDs("sessions", "Sessions of the ID database, by what they do.", gauge, []string{"state"},
		func(d report.IDDatabase, put put) { each(d.Open, put, "login", "idle", "in_transaction", "failed") }),
	ofIDs("sessions_limit", "How many of them may be open at once (--max-id-sessions); 0 is no limit.", gauge, nil,
		func(d report.IDDatabase, put put) { put(float64(d.Limit)) }),
	ofIDs("sessions_closed_total", "Sessions of the ID database that ended, by reason.", counter, []string{"reason"},
		func(d report.IDDatabase, put put) { each(d.Closed, put, idClosed...) }),
	ofIDs("logins_total", "Logins to the ID database, by result.", counter, []string{"result"},
		func(d report.IDDatabase, put put) { each(d.Logins, put, idLogins...) }),
	ofIDs("answers_total", "Statements of the ID database that gave IDs or numbers, by their form.", counter,
		[]string{"kind"},
		func(d report.IDDatabase, put put) { each(d.ByKind, put, "snowflake", "snowflakes", "segment") }),
	ofIDs("refused_total", "Statements of the ID database that ended in an error, by reason.", counter,
		[]string{"reason"},
		func(d report.IDDatabase, put put) { each(d.Refused, put, "no_ids", "not_supported", "other") }),
	ofIDs("ids_total", "IDs given in the ID database.", counter, nil,
		func(d report.IDDatabase, put put) { put(float64(d.IDs)) }),
	ofIDs("numbers_total", "Numbers of tags given in the ID database.", counter, nil,
		func(d report.IDDatabase, put put) { put(float64(d.Numbers)) }),
	ofIDs("accounts", "Accounts that may log in to the ID database, as last read.", gauge, nil,
		func(d report.IDDatabase, put put) {
			if !d.Accounts.Read.IsZero() {
				put(float64(d.Accounts.Count))
			}
		}),
	ofIDs("accounts_read_timestamp_seconds", "When those accounts were read.", gauge, nil,
		func(d report.IDDatabase, put put) {
			if !d.Accounts.Read.IsZero() {
				put(seconds(d.Accounts.Read))
			}
		}),
}

// idLogins are the results of logins.
var idLogins = []string{"ok", "password", "attempts", "limit", "unready", "refused", "left"}

// idClosed are the reasons why sessions of the ID database end.
var idClosed = []string{"client", "drain", "fault", "idle", "protocol", "removed"}

// ofIDs makes one of them.
func ofIDs(name, help string, kind prometheus.ValueType, labels []string, read func(report.IDDatabase, put)) family {
	return family{"id_database_" + name, help, kind, labels, func(s report.State, put put) {
		if s.IDDatabase.Name != "" {
			read(s.IDDatabase, put)
		}
	}}
}
