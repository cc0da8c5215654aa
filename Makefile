# Short names for the stages of .ci/run, which is where they are defined.
.PHONY: ci lint tests fuzz demo images fresh_root

ci:
	.ci/run

lint tests fuzz demo images fresh_root:
	.ci/run $@
