// Package config is all that a person can set of "pgflurry serve": one table of settings, and the values they give.
//
//	rows.go        the table: one row a setting, from which flags, variables, keys, help and pages are derived
//	given.go       Given: what rows write into; Parse turns it into Settings, once
//	settings.go    Settings: the values that package node takes
//	address.go     addresses of both sides       limits.go       limits on clients
//	tls.go         modes of TLS, and who logs in  tls_files.go    its certificates and CAs
//	id_database.go the ID database               own_account.go  clients that look like the node's own account
//	wrong.go       an error that carries its settings
//
// A new setting needs three places: its row, the field that the row writes into, and the code that uses the field.
//
// Parse reads each file that the settings name. Nothing here opens a listener or connects.
package config
