// Command release writes NOTICE: the licences of all that the programs link, which "make notices" runs. The module has
// the tools of a release as well, because they need hundreds of modules that the product does not.
//
//	release/make ── clone of the tag ─┬─ made: completion, deploy, licence, notices, the unit
//	                                  └─ GoReleaser (.goreleaser.yaml) ─ archives, deb, rpm ─► dist/VERSION
//
// Each program's list of what it links is by cyclonedx-gomod. CONTRIBUTING.md is the page of both.
//
// Invariants of release/make, which tests/release checks:
//
//  1. The same tag and the same Go give the same bytes, in any folder, on any day. Times are that of the commit.
//  2. Nothing comes from the network, and nothing from files that the tag does not have. The licence is the exception.
//  3. A release that lacks something that only people can decide is refused. The refusal names all that is missing.
//  4. Each program says the tag, and that no file differed from its commit.
//  5. With each program go the licences of all that it links.
package main
