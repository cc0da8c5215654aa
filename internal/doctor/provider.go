package doctor

import "slices"

// A provider is known by signs: the prefix of its settings, a role, a function.
type provider struct {
	name  string
	signs []string
	keeps bool // its documents say that unlogged tables survive a crash
}

// providers are in the order in which they are looked for: Aurora has the signs of RDS, too. docs/install.md has the
// sources.
var providers = []provider{
	{name: "Amazon Aurora", signs: []string{"aurora_version()"}, keeps: true},
	{name: "Amazon RDS", signs: []string{"rds.", "rdsadmin"}},
	{name: "AlloyDB", signs: []string{"alloydb.", "alloydbsuperuser"}},
	{name: "Cloud SQL", signs: []string{"cloudsql.", "cloudsqlsuperuser"}},
	{name: "Azure Database for PostgreSQL", signs: []string{"azure.", "azure_pg_admin"}},
	{name: "Neon", signs: []string{"neon.", "neon_superuser"}},
	{name: "Supabase", signs: []string{"supabase_admin"}},
	{name: "CloudNativePG", signs: []string{"cnpg", "streaming_replica"}},
}

// providerOf is the provider whose sign the server shows; a zero provider: none.
func providerOf(f Facts) provider {
	for _, p := range providers {
		if slices.ContainsFunc(p.signs, func(sign string) bool { return slices.Contains(f.Signs, sign) }) {
			return p
		}
	}
	return provider{}
}

// Provider is the name of the provider; empty: none shows.
func Provider(f Facts) string { return providerOf(f).name }
