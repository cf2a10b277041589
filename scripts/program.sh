#!/bin/sh
# Builds the program of a release, which starts with glibc 2.28 (RHEL 8) and later:
#
#   scripts/program.sh OUT [TARGET]     OUT/ioproof, without symbols; OUT/ioproof.debug, its symbols and line numbers
#
# TARGET is a triple of rustc, x86_64-unknown-linux-gnu unless given. The same commit gives the same bytes in any directory,
# from the same release of Rust. The profile can be changed as always (CARGO_PROFILE_RELEASE_LTO=off).
set -eu
case ${1:-} in '' | -*) printf 'error: no directory for the files\n  run: scripts/program.sh OUT [TARGET]\n' >&2 && exit 2 ;; esac
case $1 in /*) out=$1 ;; *) out=$(pwd)/$1 ;; esac
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh
# shellcheck source=scripts/package/common.sh
. scripts/package/common.sh

triple=${2:-x86_64-unknown-linux-gnu}
need_triple "$triple"
machine=${triple%%-*}
need_rust
need_zig
need "$(tool_for "$machine" objcopy)"
libraries=$(rustc --print target-libdir --target "$triple")
[ -d "$libraries" ] || die "Rust's standard library for $triple is not in $libraries" \
    "run: rustup target add $triple"
mkdir -p "$out" "${CARGO_TARGET_DIR:-target}"
target=$(realpath "${CARGO_TARGET_DIR:-target}")

# No directory of this machine may be in the program: neither that of the clone nor that of cargo. rustc knows some of
# them by a path without links, so that all of them are given like this.
cd "$(pwd -P)"
CARGO_HOME=$(realpath "${CARGO_HOME:-${HOME:-}/.cargo}")
CARGO_TARGET_DIR=$target
export CARGO_HOME CARGO_TARGET_DIR
flags=''
flag() {
    flags="$flags${flags:+$(printf '\037')}$1"
}
flag "--remap-path-prefix=$(pwd)=/usr/src/ioproof"
flag "--remap-path-prefix=$target=/usr/src/ioproof/target"
flag "--remap-path-prefix=$CARGO_HOME=/usr/src/cargo"
flag "-Clink-arg=-Wl,--build-id=sha1"
ZIG_TARGET=$machine-linux-gnu.$GLIBC_OLDEST
ZIG_GLOBAL_CACHE_DIR=$target/tools/zig-cache
ZIG_LOCAL_CACHE_DIR=$ZIG_GLOBAL_CACHE_DIR
export ZIG ZIG_TARGET ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
linker=CARGO_TARGET_$(printf '%s' "$triple" | tr 'a-z-' 'A-Z_')_LINKER
CARGO_PROFILE_RELEASE_DEBUG="line-tables-only"
export CARGO_PROFILE_RELEASE_DEBUG
env "$linker=$(pwd)/scripts/zig-linker" CARGO_ENCODED_RUSTFLAGS="$flags" \
    "$CARGO" build --release --locked --package ioproof --target "$triple"

built=$target/$triple/release/ioproof
objcopy=$(tool_for "$machine" objcopy)
objcopy=${objcopy%%:*}
rm -f "$out/ioproof" "$out/ioproof.debug"
"$objcopy" --only-keep-debug "$built" "$out/ioproof.debug"
chmod 0644 "$out/ioproof.debug"
# The link has the name alone and a checksum, so it is made where the file is.
(cd "$out" && "$objcopy" --strip-all --add-gnu-debuglink=ioproof.debug "$built" ioproof)
chmod 0755 "$out/ioproof"
