package connect

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
)

// foreignParameters are those of other libraries, which PostgreSQL does not know. PostgreSQL or a pooler would refuse
// the login.
var foreignParameters = map[string][]string{
	"Prisma": {
		"schema", "pgbouncer", "connection_limit", "pool_timeout", "sslaccept", "sslidentity", "socket_timeout",
		"statement_cache_size", "single_use_connections",
	},
	"JDBC": {
		"currentSchema", "ssl", "sslfactory", "prepareThreshold", "preferQueryMode", "reWriteBatchedInserts",
		"loginTimeout", "socketTimeout", "connectTimeout", "tcpKeepAlive", "ApplicationName", "stringtype",
		"targetServerType", "loadBalanceHosts", "defaultRowFetchSize", "binaryTransfer",
	},
	"a pool of connections": {
		"pool_max_conns", "pool_min_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time",
		"pool_health_check_period", "pool_size", "max_overflow", "pool_mode",
	},
	"Npgsql": {"Pooling", "Maximum Pool Size", "Minimum Pool Size", "Timeout", "Command Timeout", "SSL Mode"},
}

// foreign is an error if a connection string has a parameter of another library. The name is no secret.
func foreign(what string, config *pgx.ConnConfig) error {
	for library, names := range foreignParameters {
		for _, name := range names {
			if _, given := config.RuntimeParams[name]; !given {
				continue
			}
			advice := "Leave it out."
			if slices.Contains([]string{"schema", "currentSchema"}, name) {
				advice = "Leave it out: pgflurry keeps its tables in schema pgflurry, " +
					"and next_snowflake() in public, whatever schema an application uses."
			}
			err := fmt.Errorf("%s has the parameter %s, which is for %s, and PostgreSQL does not know it",
				what, name, library)
			return fault.WithHint(err, advice)
		}
	}
	return nil
}
