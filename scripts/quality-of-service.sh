#!/bin/sh
# Runs the ready study of five jobs that were promised a fifth of the system each, on a device that is throttled to a known
# rate: fifteen runs of jobs that take all they can get, and fifteen of jobs that ask for a fifth. The sum must be the rate
# of the device within 2 %, and each share a fifth within 3 %. Takes an hour, most of which it waits.
#
#   sudo scripts/quality-of-service.sh
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

need_rust
"$CARGO" test --release --workspace --locked --test cli -- --ignored --nocapture each_of_five_jobs_gets_its_fifth
