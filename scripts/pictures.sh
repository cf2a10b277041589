#!/bin/sh
# Makes the pictures in docs/images with today's program: the page of a quick run on a directory, and that of the study
# of twelve cards on its model.
#
#   scripts/pictures.sh [DIRECTORY]    what the quick run measures; a new directory below target/ by default
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

need_rust
need chromium:chromium
"$CARGO" build --release --locked --quiet --package ioproof
program=$(pwd)/${CARGO_TARGET_DIR:-target}/release/ioproof
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
directory=${1:-$place/measured}
mkdir -p "$directory"

# picture RECORD NAME HEIGHT : the first screen of the page of a record.
picture() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=10000 \
        --window-size="1280,$3" --screenshot="$place/$2.png" "file://$place/$1/report.html" 2>/dev/null
    mv "$place/$2.png" "docs/images/$2.png"
}

"$program" run --quick "$directory" --out "$place/quick" --yes --quiet >/dev/null
picture quick report 1000
"$program" run cuny-uv300 --model twelve-p3700 --seed 1 --out "$place/study" --yes --quiet >/dev/null
picture study study 1240
