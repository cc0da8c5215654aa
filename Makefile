# Short names for the stages of .ci/run, which is where they are defined.
.PHONY: ci lint tests versions fuzz demo images fresh_root test-versions test-clients

ci:
	.ci/run

lint tests versions fuzz demo images fresh_root:
	.ci/run $@

# PostgreSQL 16, 17 and 18 from npm packages, whatever the machine has.
test-versions:
	tests/versions

# All drivers, installed from Debian, npm and Go modules; writes docs/clients.md.
test-clients:
	tests/clients/install all
	PGFLURRY_TEST_CLIENTS=all go test -count=1 -timeout 20m ./tests/clients -update
