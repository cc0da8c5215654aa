# Short names for the stages of .ci/run, which is where they are defined.
.PHONY: ci lint tests fuzz demo images fresh_root test-versions

ci:
	.ci/run

lint tests fuzz demo images fresh_root:
	.ci/run $@

# PostgreSQL 16, 17 and 18 from npm packages, whatever the machine has.
test-versions:
	tests/versions
