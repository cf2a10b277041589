#!/bin/sh
# Searches for inputs that make a reader panic, hang or take too much memory, guided by coverage (libFuzzer).
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]     SECONDS in all, 300 unless given; all targets unless some are named
#
# What a run finds is where the next one starts: target/fuzz/corpus. An input that breaks a target is kept in
# target/fuzz/crashes, and ends the script with an error after all targets.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

seconds=${1:-300}
case $seconds in
'' | *[!0-9]*) die "not a number of seconds: $seconds" "run: scripts/fuzz.sh [SECONDS [TARGET...]]" ;;
esac
[ $# -eq 0 ] || shift

need_rust
need c++:g++
out=${CARGO_TARGET_DIR:-target}/fuzz
mkdir -p "$out/crashes"
triple=$("$(dirname "$CARGO")/rustc" -vV | sed -n 's/^host: //p')

say "building the targets with counters of their branches"
# With --target, programs that run during the build have no counters.
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0" \
    "$CARGO" build --locked --profile fuzz --package ioproof-fuzz --bin ioproof-fuzz --target "$triple" --target-dir "$out"
fuzz=$PWD/$out/$triple/fuzz/ioproof-fuzz
case $out in /*) fuzz=$out/$triple/fuzz/ioproof-fuzz ;; esac

all=$("$fuzz")
names=${*:-$(echo "$all" | cut -d ' ' -f 1)}
for name in $names; do
    echo "$all" | grep -q "^$name " || die "no target is called $name" "targets: $(echo "$all" | cut -d ' ' -f 1 | tr '\n' ' ')"
done
# shellcheck disable=SC2086 # names have no spaces
share=$((seconds / $(echo $names | wc -w)))
[ "$share" -gt 0 ] || share=1

# Targets that read directories make them here.
scratch=$(mktemp -d -p /dev/shm ioproof-fuzz.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

failed=''
for name in $names; do
    say "$name, $share s"
    found=$out/corpus/$name
    mkdir -p "$found"
    inputs=$(echo "$all" | sed -n "s/^$name //p")
    # Reservations count, also of memory that is never touched.
    # shellcheck disable=SC3045 # dash and bash have ulimit -v
    (
        ulimit -v 8388608
        IOPROOF_FUZZ=$name TMPDIR=$scratch exec nice -n 15 "$fuzz" -max_total_time="$share" -timeout=20 \
            -rss_limit_mb=2048 -max_len=131072 -use_value_profile=1 -print_final_stats=1 -verbosity=0 \
            -artifact_prefix="$out/crashes/$name-" \
            ${inputs:+-seed_inputs="$inputs"} "$found"
    ) </dev/null >"$out/$name.log" 2>&1 || failed="$failed $name"
    grep -E '^(stat::number_of_executed_units|stat::new_units_added|stat::peak_rss_mb)' "$out/$name.log" || true
    case $failed in
    *" $name") grep -E "panicked at|^thread|ERROR|Test unit written" -A 2 "$out/$name.log" | head -20 ;;
    esac
done
[ -z "$failed" ] || die "these targets fail:$failed" \
    "inputs are in $out/crashes, logs are $out/TARGET.log; mend the reader and add the input to crates/fuzz/corpus/TARGET"
say "no target fails"
