# Short names for the stages of .ci/run, which is where they are defined.
.PHONY: ci lint tests mutants versions fuzz demo images fresh_root
.PHONY: test-versions test-clients test-pgx soak measure-lease measure-scale ha

ci:
	.ci/run

lint tests mutants versions fuzz demo images fresh_root:
	.ci/run $@

# PostgreSQL 16, 17 and 18 from npm packages, whatever the machine has.
test-versions:
	tests/versions

# All drivers and frameworks, installed from Debian, npm and Go modules; writes docs/clients.md and docs/frameworks.md.
test-clients:
	tests/clients/install all
	tests/frameworks/install all
	tests/printed/tools/install
	PGFLURRY_TEST_CLIENTS=all go test -count=1 -timeout 20m ./tests/clients -update
	PGFLURRY_TEST_CLIENTS=all go test -count=1 -timeout 20m ./tests/frameworks -update
	PGFLURRY_TEST_CLIENTS=all go test -count=1 -timeout 20m ./tests/printed
	PGFLURRY_TEST_CLIENTS=all go test -count=1 ./tests/ahead

# pgx's own tests, directly and through the proxy: each passes and fails as it does directly.
test-pgx:
	PGFLURRY_TEST_PGX=1 go test -count=1 -timeout 30m -v -run Pgx ./tests/clients

# Proxies and function under one fault after another, until a thousand million IDs are compared or SOAK is over.
SOAK ?= 2h
soak:
	PGFLURRY_TEST_STORM=$(SOAK) go test -count=1 -timeout 0 -v -run Storm ./tests/faults

# Faults of deploy/ha on machines of their own, for so long in all; HA_FLAGS="-ha.failovers 200" ends it then.
HA ?= 3m
ha:
	PGFLURRY_TEST_HA=$(HA) go test -count=1 -timeout 0 -v ./tests/ha $(HA_FLAGS)

# What docs/uniqueness.md says in figures: take-over, PostgreSQL away, the cost of a lease.
measure-lease:
	go test -count=1 -timeout 0 -run '^$$' -bench . -benchtime 9x ./tests/faults

# What docs/scale.md says that statements cost, and its tables with the fleet of ten thousand.
measure-scale:
	go test -count=1 -timeout 0 -run '^$$' -bench 'Acqu|Renewal|Permission|Survey' -benchtime 300x ./tests/leasing
	PGFLURRY_TEST_SCALE=1 go test -count=1 -timeout 0 -run TheSimulatedTables ./tests/simulation -update
