// Command release makes the files of a release from a tag. "make release" runs it; docs/release.md is its page.
//
//	tag ── clone ──┬─ programs ─┬─ archives        one for each system
//	               ├─ completion├─ SBOMs           one for each system
//	               │            └─ deb, rpm        for each Linux
//	               └─ docker/oci ─ image           if there is that script
//	                                │
//	                            SHA256SUMS         of all of them
//
// Invariants:
//
//  1. The same tag and the same Go give the same bytes, in any folder, on any day. Times are that of the commit.
//  2. Nothing comes from the network, and nothing from files that the tag does not have. The licence is the exception.
//  3. A release that lacks something that only people can decide is refused. The refusal names all that is missing.
//  4. Each program says the tag, and that no file differed from its commit.
//  5. With each program go the licences of all that it links.
package main
