#!/bin/sh
# Makes the files of a release in target/release-files:
#
#   ioproof             the program, without symbols
#   ioproof.debug       its symbols and line numbers, which debuggers and backtraces find beside it
#   ioproof.cdx.json    its bill of materials (CycloneDX 1.5)
#   SHA256SUMS          checksums of these
#
# Known vulnerabilities of its crates end it with an error, where the database of RustSec can be had.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

[ $# -eq 0 ] || die "unknown arguments: $*" "run: scripts/release.sh"
target=${CARGO_TARGET_DIR:-target}
out=$target/release-files
need_rust
need objcopy:binutils python3:python3
need_cargo_deny ||
    die "cargo-deny $CARGO_DENY_VERSION cannot be built" "it needs the network for its crates: cargo install cargo-deny"
mkdir -p "$target"
"$CARGO" fetch --locked --quiet

say "known vulnerabilities"
# A database of an earlier day is better than none.
fetched=yes
cargo_deny fetch db >"$target/advisories.log" 2>&1 || fetched=''
if [ -n "$fetched" ] || ls -d "${CARGO_HOME:-${HOME:-/}/.cargo}"/advisory-dbs/*/.git >/dev/null 2>&1; then
    cargo_deny --offline check advisories
else
    echo "skipped: known vulnerabilities: the database of RustSec is not here, and cannot be fetched ($target/advisories.log)"
fi

say "building"
"$CARGO" build --release --locked --package ioproof
rm -rf "$out"
mkdir -p "$out"
built=$target/release/ioproof
objcopy --only-keep-debug "$built" "$out/ioproof.debug"
chmod -x "$out/ioproof.debug"
# The link has the name alone and a checksum, so it is made where the file is.
built=$(realpath "$built")
(cd "$out" && objcopy --strip-all --add-gnu-debuglink=ioproof.debug "$built" ioproof)
"$out/ioproof" --version

say "bill of materials"
python3 scripts/sbom.py >"$out/ioproof.cdx.json"

say "checksums"
(cd "$out" && sha256sum ioproof ioproof.debug ioproof.cdx.json >SHA256SUMS && cat SHA256SUMS)
echo "in $out"
