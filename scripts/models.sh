#!/bin/sh
# Runs the seven ready models, each with the study for which it was made, and prints what that takes and how far what is
# computed from steady states is from a simulation of all of it: the largest differences over all figures.
#
#   scripts/models.sh [--times]    --times leaves out the simulations of everything, which take half an hour
#
# Two studies are compared with less work in some of their phases, because a simulation of all of them takes hours.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

case $#:${1:-} in
0:) whole=yes ;;
1:--times) whole='' ;;
*) die "unknown arguments: $*" "run: scripts/models.sh [--times]" ;;
esac
need_rust
need python3:python3
"$CARGO" build --release --locked --quiet
program=${CARGO_TARGET_DIR:-target}/release/ioproof
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# spent NAME STUDY OPTION... : runs the study and prints processor seconds and megabytes.
spent() {
    out=$place/$1
    shift
    python3 - "$program" run --out "$out" --seed 1 "$@" <<'PYTHON'
import resource, subprocess, sys
run = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
if run.returncode:
    sys.exit(run.stderr.decode())
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.1f} s, {used.ru_maxrss // 1024} MiB", end="")
PYTHON
}

# differences NAME OTHER : the largest ones of two records of a study.
differences() {
    for one in "$1" "$2"; do
        "$program" report "$place/$one" --json >"$place/$one.json"
    done
    python3 - "$place/$1.json" "$place/$2.json" <<'PYTHON'
import json, sys
computed, simulated = (json.load(open(name))["figures"] for name in sys.argv[1:])
largest = {"rate": 0.0, "p50": 0.0, "p99": 0.0}
for one, other in zip(computed, simulated, strict=True):
    rates = [figure["transfers_per_second"]["median"] for figure in (one, other)]
    pairs = [("rate", rates)]
    for a, b in zip(one["latency"], other["latency"], strict=True):
        pairs += [("p50", [a["p50_ns"], b["p50_ns"]]), ("p99", [a["p99_ns"], b["p99_ns"]])]
    for what, (a, b) in pairs:
        largest[what] = max(largest[what], abs(a / b - 1) if b else 0.0)
told = ", ".join(f"{what} {value:.2%}" for what, value in largest.items())
print(f"; {len(computed)} figures: {told}", end="")
PYTHON
}

while read -r study model less; do
    printf '%s on %s: ' "$study" "$model"
    spent computed "$study" --model "$model"
    if [ -n "$whole" ]; then
        set --
        for key in $less; do
            set -- "$@" --set "workload.$key"
        done
        if [ -n "$less" ]; then
            rm -rf "${place:?}"/*
            printf '; with less work: '
            spent computed "$study" --model "$model" "$@"
        fi
        printf '; all simulated: '
        spent simulated "$study" --model "$model" --simulate-all "$@"
        differences computed simulated
    fi
    echo
    rm -rf "${place:?}"/*
done <<'STUDIES'
local-disk laptop
threads io-cell
sas-flash five-p3700
weak-scaling cte-power
cuny-uv300 twelve-p3700
iops-lustre lustre-ef560 random-read.duration=1s fadvise.duration=1s one-process.duration=1s mix.duration=1s
scale-news scale-disks iozone-like.size=1GiB
STUDIES
