#!/bin/sh
# Shows that the same commit gives the same bytes: makes the files of a release twice, from clones of this commit in two
# directories, with other umasks, time zones, homes of cargo and languages, and compares all of them.
#
#   scripts/reproduce.sh [--target TRIPLE]
#
# It takes two builds. What differs is kept in target/reproduce; docs/RELEASE.md has the last result.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh
# shellcheck source=scripts/package/common.sh
. scripts/package/common.sh

triple=x86_64-unknown-linux-gnu
case $#:${1:-} in
0:) ;;
2:--target) triple=$2 ;;
*) die "unknown arguments: $*" "run: scripts/reproduce.sh [--target TRIPLE]" ;;
esac
need_rust
need_zig
mkdir -p "${CARGO_TARGET_DIR:-target}"
work=$(realpath "${CARGO_TARGET_DIR:-target}")/reproduce
rm -rf "$work"
first=$work/a
second=$work/another-directory/with-a-longer-name
"$CARGO" fetch --locked --quiet
home=${CARGO_HOME:-${HOME:-/}/.cargo}
mkdir -p "$work/another-directory"
ln -s "$(realpath "$home")" "$work/another-directory/cargo"
commit=$(git rev-parse HEAD)
[ -z "$(git status --porcelain)" ] || echo "warning: what git status names is not part of this: it builds $commit" >&2
for place in "$first" "$second"; do
    git clone --quiet --no-checkout . "$place"
    git -C "$place" checkout --quiet --detach "$commit"
done
out=target/release-files
[ "$triple" = x86_64-unknown-linux-gnu ] || out=$out-${triple%%-*}

# make PLACE UMASK VARIABLE=VALUE... : the files of a release in PLACE.
make() {
    place=$1
    mask=$2
    shift 2
    say "release in $place"
    (
        umask "$mask"
        cd "$place"
        unset SOURCE_DATE_EPOCH
        env CARGO="$CARGO" ZIG="$ZIG" "$@" CARGO_TARGET_DIR=target scripts/release.sh --offline --target "$triple"
    ) >"$place.log" 2>&1 || die "no release in $place" "$(tail -n 5 "$place.log")"
    # A build is a gigabyte.
    rm -rf "$place/target/$triple" "$place/target/release"
}
make "$first" 022 TZ=UTC LC_ALL=C CARGO_HOME="$home"
make "$second" 077 TZ=Asia/Tokyo LC_ALL=C.UTF-8 CARGO_HOME="$work/another-directory/cargo"

say "comparison"
for file in "$first/$out"/*; do
    name=$(basename "$file")
    if cmp -s "$file" "$second/$out/$name"; then
        printf '%s  %s  %s\n' "$(sha256sum <"$file" | cut -c1-16)" "$(stat -c %s "$file")" "$name"
    else
        differs=yes
        echo "differs: $name"
    fi
done
[ "$(ls "$first/$out")" = "$(ls "$second/$out")" ] || die "the names of the files differ" \
    "compare $first/$out and $second/$out"
[ -z "${differs:-}" ] || die "the same commit gave different bytes" "compare $first/$out and $second/$out"
rm -rf "$work"
echo "$(date -u +%Y-%m-%d): commit $(printf '%.12s' "$commit") gave the same bytes twice, with $(rustc --version) and zig $ZIG_VERSION"
