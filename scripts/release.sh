#!/bin/sh
# Makes the files of a release in target/release-files:
#
#   ioproof-VERSION-x86_64-linux.tar.gz, ioproof_VERSION_amd64.deb, ioproof-VERSION-1.x86_64.rpm
#                       the packages (scripts/package.sh); they need glibc 2.28, that of RHEL 8
#   ioproof             the program, without symbols
#   ioproof.debug       its symbols and line numbers, which debuggers and backtraces find beside it
#   ioproof.cdx.json    its bill of materials (CycloneDX 1.5)
#   *.whl               the program and its package for Python (scripts/wheel.py)
#   SHA256SUMS          checksums of all these; SHA256SUMS.sig is its signature
#
#   scripts/release.sh [--sign KEY] [--target TRIPLE] [--without deb|rpm]... [--offline]
#
#   --sign KEY        sign the checksums with this SSH key, or with the agent's key for this .pub file
#   --target TRIPLE   for another machine: aarch64-unknown-linux-gnu, in target/release-files-aarch64
#   --without FORMAT  make no deb or no rpm, on a machine that has no dpkg-deb or rpmbuild
#   --offline         fetch nothing: everything is there from an earlier call; known vulnerabilities are not looked up
#
# The files of an earlier call are replaced at the end, so that an error leaves them.
#
# The same commit gives the same bytes (scripts/reproduce.sh): dates are that of the commit. Known vulnerabilities of its
# crates end it with an error, where the database of RustSec can be had.
set -eu
started_in=$(pwd)
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh
# shellcheck source=scripts/package/common.sh
. scripts/package/common.sh

key=''
offline=''
without=''
triple=x86_64-unknown-linux-gnu
while [ $# -gt 0 ]; do
    case $1:$# in
    --sign:[!1]*)
        case $2 in /*) key=$2 ;; *) key=$started_in/$2 ;; esac
        shift
        ;;
    --target:[!1]*)
        triple=$2
        shift
        ;;
    --without:[!1]*)
        case $2 in deb | rpm) ;; *) die "no package is left out by the name of $2" "name deb or rpm" ;; esac
        without="$without $2"
        shift
        ;;
    --offline:*) offline=yes ;;
    *) die "unknown argument or no value: $1" \
        "run: scripts/release.sh [--sign KEY] [--target TRIPLE] [--without deb|rpm]... [--offline]" ;;
    esac
    shift
done
need_triple "$triple"
# A signature for this is none for a record (`ioproof run --sign`).
NAMESPACE=ioproof-release
if [ -n "$key" ]; then
    need ssh-keygen:openssh-client
    # The build takes minutes, so the key is tried first.
    ssh-keygen -Y sign -n "$NAMESPACE" -f "$key" </dev/null >/dev/null 2>&1 || die "cannot sign with $key" \
        "name an SSH private key, or the .pub file of a key that the agent has; try: ssh-keygen -Y sign -n $NAMESPACE -f $key"
fi
target=${CARGO_TARGET_DIR:-target}
out=$target/release-files
[ "$triple" = x86_64-unknown-linux-gnu ] || out=$out-${triple%%-*}
new=$out.new
need_date
[ -z "$(git status --porcelain 2>/dev/null)" ] ||
    echo "warning: these files are of no commit: git status names files that differ" >&2
need_rust
need python3:python3
need_packers "$without"
mkdir -p "$target"
if [ -n "$offline" ]; then
    export CARGO_NET_OFFLINE=true
    echo "skipped: known vulnerabilities, which --offline does not look up"
else
    need_cargo_deny ||
        die "cargo-deny $CARGO_DENY_VERSION cannot be built" "it needs the network for its crates: cargo install cargo-deny"
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
fi

say "building"
rm -rf "$new"
mkdir "$new"
scripts/program.sh "$new" "$triple"
[ "${triple%%-*}" != "$(uname -m)" ] || "$new/ioproof" --version
set -- "$new/ioproof" "$new"
for format in $without; do
    set -- "$@" --without "$format"
done
scripts/package.sh "$@"

say "wheel"
python3 scripts/wheel.py "$new/ioproof" "$new"

say "glibc"
scripts/glibc.sh "$new"

say "bill of materials"
python3 scripts/sbom.py "$triple" >"$new/ioproof.cdx.json"

say "checksums"
sums=$(LC_ALL=C && export LC_ALL && cd "$new" && sha256sum -- *)
printf '%s\n' "$sums" | tee "$new/SHA256SUMS"
[ -z "$key" ] || ssh-keygen -Y sign -n "$NAMESPACE" -f "$key" <"$new/SHA256SUMS" >"$new/SHA256SUMS.sig" 2>/dev/null ||
    die "cannot sign with $key" "try: ssh-keygen -Y sign -n $NAMESPACE -f $key"
rm -rf "$out"
mv "$new" "$out"
echo "in $out"
if [ -n "$key" ]; then
    echo "signed: SHA256SUMS.sig, by $(ssh-keygen -lf "$key" | cut -d' ' -f2)"
else
    echo "unsigned: scripts/release.sh --sign KEY signs the checksums"
fi
