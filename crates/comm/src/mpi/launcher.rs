//! The launcher's own end, when a node is lost: it may wait for its daemon there for ever.

use std::os::unix::process::{CommandExt as _, parent_id};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names of Open MPI's launcher, as the kernel shows them.
const NAMES: [&str; 5] = ["mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi"];

/// Variables of `mpirun --mca oob_tcp_keepalive_…`, in seconds, seconds and times: when it notices by
/// itself that a node is cut off.
const KEEPALIVE: [&str; 3] = [
    "OMPI_MCA_oob_tcp_keepalive_time",
    "OMPI_MCA_oob_tcp_keepalive_intvl",
    "OMPI_MCA_oob_tcp_keepalive_probes",
];

/// The values of Open MPI 4 where they are not set.
const DEFAULTS: [u64; 3] = [300, 20, 9];

/// After so long the launcher has noticed, if it said that it would.
const SLACK: Duration = Duration::from_secs(2);

/// Longer than this no lost node is waited for.
const LONGEST: Duration = Duration::from_secs(8);

/// How much longer than `patience` the launcher takes to notice a node that is cut off. Whoever ends the
/// job before that makes it send to that node; then the network does not tell for many minutes.
pub(super) fn notices_after(variable: &dyn Fn(&str) -> Option<String>, patience: Duration) -> Duration {
    let mut values = DEFAULTS;
    for (value, name) in values.iter_mut().zip(KEEPALIVE) {
        *value = variable(name).and_then(|text| text.trim().parse().ok()).unwrap_or(*value);
    }
    let [time, interval, probes] = values;
    let seconds = time.saturating_add(interval.saturating_mul(probes));
    let after = (Duration::from_secs(seconds) + SLACK).saturating_sub(patience);
    if after > LONGEST { Duration::ZERO } else { after }
}

/// Sees to it that the launcher ends after this process has, if it is its parent: Open MPI's `mpirun`
/// takes two requests to end within five seconds as the wish to end without its daemons.
pub(super) fn see_off() {
    let parent = parent_id();
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
    if !NAMES.contains(&name.trim_end()) {
        return;
    }
    // This process ends now, so another one has to ask, some seconds after the ordinary end.
    let same = format!("[ \"$(cat /proc/{parent}/comm 2>/dev/null)\" = {} ]", name.trim_end());
    let script = format!("sleep 3; {same} && kill -TERM {parent}; sleep 1; {same} && kill -TERM {parent}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without a shell the launcher is left to itself.
    drop(shell.process_group(0).spawn());
}
