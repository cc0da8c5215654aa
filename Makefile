# Short names for the stages of .ci/run, which defines them.
.PHONY: ci nightly lint tests mutants versions fuzz demo packages vulnerabilities images fresh_root fresh_whole
.PHONY: test-versions test-clients test-pgx soak measure-lease measure-scale ha profile
.PHONY: release module notices

# What only people can decide about a release. "make release" names what is missing; CONTRIBUTING.md explains each.
LICENSE ?= $(wildcard LICENSE)
MODULE ?= $(shell sed -n 's/^module //p' go.mod)
DOCS ?=
MAINTAINER ?=

ci:
	.ci/run

# Everything, whatever has changed.
nightly:
	CI_SINCE=never PGFLURRY_TEST_VOLUME=full .ci/run install lint tests mutants ha versions fuzz demo \
		packages vulnerabilities images fresh_whole

lint tests mutants versions fuzz demo packages vulnerabilities images fresh_root fresh_whole:
	.ci/run $@

# What takes how long: the processor seconds of each package, and the slowest tests. ARGS="-tags full ./..." for all.
ARGS ?= ./...
profile:
	go run ./tests/profile $(ARGS)

# The suites that face a server, on PostgreSQL 16 to 19 from packages of npm and Debian.
test-versions:
	tests/versions

# All drivers and frameworks, installed from Debian, npm and Go modules; writes docs/clients.md and docs/frameworks.
test-clients:
	tests/clients/install all
	tests/frameworks/install all
	tests/printed/tools/install
	PGFLURRY_TEST_CLIENTS=all go test -tags full -count=1 -timeout 20m ./tests/clients -update
	PGFLURRY_TEST_CLIENTS=all go test -tags full -count=1 -timeout 20m ./tests/frameworks -update
	PGFLURRY_TEST_CLIENTS=all go test -tags full -count=1 -timeout 20m ./tests/printed
	PGFLURRY_TEST_CLIENTS=all go test -tags full -count=1 ./tests/ahead

# pgx's own tests, directly and through the proxy: each must end in the same way.
test-pgx:
	PGFLURRY_TEST_PGX=1 go test -tags full -count=1 -timeout 30m -v -run Pgx ./tests/clients

# Proxies and function under one fault after another, until 10^9 IDs are compared or SOAK is over.
SOAK ?= 2h
soak:
	PGFLURRY_TEST_STORM=$(SOAK) go test -tags full -count=1 -timeout 0 -v -run StormOfSwitches ./tests/unique

# Faults for deploy/ha on machines of its own. HA is the total time. HA_FLAGS="-ha.failovers 200" may end it earlier.
HA ?= 3m
ha:
	PGFLURRY_TEST_HA=$(HA) go test -tags full -count=1 -timeout 0 -v ./tests/ha $(HA_FLAGS)

# The figures of docs/uniqueness.md: take-over, PostgreSQL away, the cost of a lease.
measure-lease:
	go test -count=1 -timeout 0 -run '^$$' -bench . -benchtime 9x ./tests/unique

# The costs of statements in docs/operations.md, and its simulated table with the fleet of ten thousand.
measure-scale:
	go test -count=1 -timeout 0 -run '^$$' -bench 'Acqu|Renewal|Permission|Survey' -benchtime 300x ./tests/leasing
	PGFLURRY_TEST_SCALE=1 PGFLURRY_TEST_VOLUME=full \
		go test -tags full -count=1 -timeout 0 -run TheSimulatedTable ./tests/simulation -update

# Everything of a release below dist/, from the checkout of its tag: make release VERSION=v0.1.0. TARGETS=linux/amd64
# makes that part alone. Nothing comes from the network; "go -C release mod download" fetches what it needs before.
release: export VERSION := $(VERSION)
release: export LICENSE := $(LICENSE)
release: export MODULE := $(MODULE)
release: export DOCS := $(DOCS)
release: export MAINTAINER := $(MAINTAINER)
release: export TARGETS := $(TARGETS)
release:
	release/make

# The module's path, in go.mod and in all imports: make module MODULE=git.example.org/team/pgflurry.
module:
	release/module '$(MODULE)'

# NOTICE, after a change of dependencies.
notices:
	go -C release run .
