#!/bin/sh
# Measures pairs of runs that differ in nothing, every second pair on a busy host, and counts how often a comparison
# states a difference. Each that is stated is false. Ends with 1 if more than one pair in thirty has one.
#
#   scripts/pairs.sh [PAIRS [DIRECTORY [PASSES [PASS]]]]    30 pairs in a temporary directory, of 5 passes of 1s
#
# The busy host has a process for each processor that only computes, and one that writes to the same file system. They
# start before the first run of a pair and end after its second. A run has 8 figures, so 30 pairs take 45 minutes with
# 5 passes of 1s. Pairs with a false statement are kept in target/pairs.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

usage='run: scripts/pairs.sh [PAIRS [DIRECTORY [PASSES [PASS]]]]'
[ $# -le 4 ] || die "unknown arguments: $*" "$usage"
pairs=${1:-30}
passes=${3:-5}
pass=${4:-1s}
case $pairs in '' | *[!0-9]* | 0*) die "$pairs is no number of pairs" "$usage" ;; esac
scratch=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/ioproof-pairs.XXXXXX") || die "there is no directory ${2:-}" "$usage"
run=''

# The load ends when its mark is gone.
quiet() {
    rm -f "$scratch/busy"
    wait
}

finish() {
    [ -z "$run" ] || kill "$run" 2>/dev/null || true
    quiet
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM

need_rust
need python3:python3
"$CARGO" build --locked --quiet --package ioproof
program=${CARGO_TARGET_DIR:-target}/debug/ioproof
kept=${CARGO_TARGET_DIR:-target}/pairs

mkdir "$scratch/data"
cat >"$scratch/pairs.toml" <<STUDY
[protocol]
repetitions = $passes
interleaved = true
phase_min = "1ms"

[[target]]
name = "here"
directory = "$scratch/data"

[[workload]]
name = "pairs"
phases = ["write", "read"]
transfer = ["64KiB", "1MiB"]
tasks = [1, 4]
size = "32MiB"
duration = "$pass"
sharing = "per-task"
direct = true
STUDY

# Whether the load goes on: until its mark is gone, or this script was killed.
is_busy() {
    [ -e "$scratch/busy" ] && kill -0 $$ 2>/dev/null
}

busy() {
    : >"$scratch/busy"
    for _ in $(seq "$(nproc)"); do
        while is_busy; do :; done &
    done
    while is_busy; do
        dd if=/dev/zero of="$scratch/load" bs=1M count=64 conv=notrunc oflag=direct 2>/dev/null
    done &
    # The load has begun when the first run does.
    sleep 1
}

# measure RECORD : in the background, where an interrupt of this script reaches it.
measure() {
    "$program" run --yes --quiet --out "$1" "$scratch/pairs.toml" >"$scratch/log" 2>&1 </dev/null &
    run=$!
    wait "$run" || die "a run of the pair failed" "$(cat "$scratch/log")"
    run=''
}

# counted HOST : a line with the host, the comparisons of this pair, those that could be told, those that were told, and the
# median half width of the intervals in percent; on standard error what was told.
counted() {
    "$program" compare --format json "$scratch/before" "$scratch/after" >"$scratch/comparison.json"
    python3 - "$1" "$scratch/comparison.json" <<'PYTHON'
import json, math, statistics, sys
host, path = sys.argv[1:]
all = json.load(open(path))["comparisons"]
able = [one for one in all if one["outcome"] in ("faster", "slower", "no change shown")]
told = [one for one in able if one["outcome"] != "no change shown"]
for one in told:
    what = f"mean latency of {one['latency_of']}s" if one["latency_of"] else one["phase"]
    print(f"  false: {one['case']} {what}: {one['outcome']}, {one['before']:.6g} to {one['after']:.6g} {one['unit']}, "
          f"p = {one['p_value']:.2g}, {'; '.join(r['because'] + ': ' + r['evidence'] for r in one['reasons'])}", file=sys.stderr)
width = [math.log((1 + one["change_high"]) / (1 + one["change_low"])) / 2 for one in able
         if one["change_low"] is not None and one["change_high"] is not None]
print(host, len(all), len(able), len(told), f"{100 * statistics.median(width):.1f}" if width else "-")
PYTHON
}

say "$pairs pairs, $passes passes of $pass, on $(df --output=fstype,source "$scratch" | tail -1 | tr -s ' ')"
for pair in $(seq "$pairs"); do
    host=quiet
    [ $((pair % 2)) -eq 1 ] || host=busy
    [ $host = quiet ] || busy
    rm -rf "$scratch/before" "$scratch/after"
    measure "$scratch/before"
    measure "$scratch/after"
    quiet
    line=$(counted $host)
    echo "$line" >>"$scratch/counts"
    # shellcheck disable=SC2086 # its words
    set -- $line
    echo "pair $pair, $host: $4 of $3 comparisons state a difference; intervals of ± $5 %"
    if [ "$4" -gt 0 ]; then
        mkdir -p "$kept/$pair"
        rm -rf "$kept/$pair/before" "$kept/$pair/after"
        cp -R "$scratch/before" "$scratch/after" "$kept/$pair"
    fi
done

echo
echo '| host | pairs | comparisons | that could be told | false | pages with a false one | median interval |'
echo '|---|---:|---:|---:|---:|---:|---:|'
for host in quiet busy; do
    widths=$(awk -v host=$host '$1 == host && $5 != "-" { print $5 }' "$scratch/counts" | sort -n)
    awk -v host=$host -v widths="$widths" '
        $1 == host { pairs++; all += $2; able += $3; told += $4; pages += $4 > 0 }
        END {
            n = split(widths, of)
            width = n ? "± " of[int((n + 1) / 2)] " %" : ""
            printf "| %s | %d | %d | %d | %d | %d | %s |\n", host, pairs, all, able, told, pages, width
        }' "$scratch/counts"
done
pages=$(awk '$4 > 0' "$scratch/counts" | wc -l)
if [ $((pages * 30)) -gt "$pairs" ]; then
    die "$pages of $pairs pages state a difference that is not there" "the records are in $kept"
fi
