#!/bin/sh
# Shows that the same commit gives the same bytes: makes the files of a release twice, from clones of this commit in two
# directories, with other umasks, time zones, locales (C and C.UTF-8) and homes of cargo, and compares all of them. The second
# home is a copy of the registry in the first one.
#
#   scripts/reproduce.sh [--target TRIPLE] [--without deb|rpm]...
#
# It takes two builds. What differs is kept in target/reproduce; docs/RELEASE.md has the last result.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh
# shellcheck source=scripts/package/common.sh
. scripts/package/common.sh

triple=x86_64-unknown-linux-gnu
without=''
while [ $# -gt 0 ]; do
    case $1:${2:-} in
    --target:?*) triple=$2 ;;
    --without:deb | --without:rpm) without="$without $2" ;;
    *) die "unknown argument or no value: $1" "run: scripts/reproduce.sh [--target TRIPLE] [--without deb|rpm]..." ;;
    esac
    shift 2
done
need_triple "$triple"
need_packers "$without"
need_rust
need_zig
mkdir -p "${CARGO_TARGET_DIR:-target}"
work=$(realpath "${CARGO_TARGET_DIR:-target}")/reproduce
rm -rf "$work"
first=$work/a
second=$work/another-directory/with-a-longer-name
"$CARGO" fetch --locked --quiet
home=$(realpath "${CARGO_HOME:-${HOME:-/}/.cargo}")
other_home=$work/another-directory/cargo
mkdir -p "$other_home"
# As hard links, where both are on one file system.
cp -al "$home/registry" "$other_home/" 2>/dev/null || {
    rm -rf "$other_home/registry"
    cp -a "$home/registry" "$other_home/"
}
# It may name another registry.
[ ! -f "$home/config.toml" ] || cp "$home/config.toml" "$other_home/"
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
        set -- CARGO="$CARGO" ZIG="$ZIG" "$@" CARGO_TARGET_DIR=target scripts/release.sh --offline --target "$triple"
        for format in $without; do
            set -- "$@" --without "$format"
        done
        env "$@"
    ) >"$place.log" 2>&1 || die "no release in $place" "$(tail -n 5 "$place.log")"
    # A build is a gigabyte.
    rm -rf "$place/target/$triple" "$place/target/release"
}
make "$first" 022 TZ=UTC LC_ALL=C CARGO_HOME="$home"
make "$second" 077 TZ=Asia/Tokyo LC_ALL=C.UTF-8 CARGO_HOME="$other_home"

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
