//! Ends the launcher when a node is lost, because it may wait forever for its daemon on that node.

use std::os::unix::process::{CommandExt as _, parent_id};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names of Open MPI's launcher, as shown by the kernel.
const NAMES: [&str; 5] = ["mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi"];

/// Variables of `mpirun --mca oob_tcp_keepalive_…`, which determine when it detects a disconnected node.
/// Units: seconds, seconds and number of probes.
const KEEPALIVE: [&str; 3] = [
    "OMPI_MCA_oob_tcp_keepalive_time",
    "OMPI_MCA_oob_tcp_keepalive_intvl",
    "OMPI_MCA_oob_tcp_keepalive_probes",
];

/// Open MPI 4's defaults.
const DEFAULTS: [u64; 3] = [300, 20, 9];

/// Margin after the launcher's own detection time.
const SLACK: Duration = Duration::from_secs(2);

/// Maximum additional wait for a lost node.
const LONGEST: Duration = Duration::from_secs(8);

/// How much longer than `patience` the launcher needs to detect a disconnected node. If the job is ended
/// before that, the launcher sends messages to that node, and then the network reports nothing for many
/// minutes.
pub(super) fn detection_delay(variable: &dyn Fn(&str) -> Option<String>, patience: Duration) -> Duration {
    let mut values = DEFAULTS;
    for (value, name) in values.iter_mut().zip(KEEPALIVE) {
        *value = variable(name).and_then(|text| text.trim().parse().ok()).unwrap_or(*value);
    }
    let [time, interval, probes] = values;
    let seconds = time.saturating_add(interval.saturating_mul(probes));
    let after = (Duration::from_secs(seconds) + SLACK).saturating_sub(patience);
    if after > LONGEST { Duration::ZERO } else { after }
}

/// Makes the launcher end after this process, if it is this process's parent. Open MPI's `mpirun`
/// interprets two termination requests within five seconds as a request to end without its daemons.
pub(super) fn end_launcher() {
    let parent = parent_id();
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
    if !NAMES.contains(&name.trim_end()) {
        return;
    }
    // This process ends now, so another one must send the requests, some seconds after the ordinary end.
    let same = format!("[ \"$(cat /proc/{parent}/comm 2>/dev/null)\" = {} ]", name.trim_end());
    let script = format!("sleep 3; {same} && kill -TERM {parent}; sleep 1; {same} && kill -TERM {parent}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // If there is no shell, the launcher is not ended.
    drop(shell.process_group(0).spawn());
}
