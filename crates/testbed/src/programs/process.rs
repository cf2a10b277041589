//! Running processes, as listed by the kernel.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};

/// One process. Its PID is that of the namespace in which the test runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    id: u32,
    parent: u32,
    name: String,
}

impl Process {
    /// The PID.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// The first 15 bytes of the program name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A variable from the environment that the process was started with.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        let all = fs::read(self.file("environ")).ok()?;
        let mut entries = all.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        entries.find_map(|entry| entry.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
    }

    /// The rank, if a launcher of Open MPI, MPICH or Slurm started the process.
    #[must_use]
    pub fn rank(&self) -> Option<u32> {
        /// The variables in which launchers pass the rank. Slurm comes last, because its own processes have the
        /// variable too.
        const PLACES: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];
        PLACES.iter().find_map(|name| self.variable(name)?.parse().ok())
    }

    /// Sends a signal. Does nothing if the process has already ended.
    pub fn signal(&self, signal: Signal) {
        if let Some(id) = i32::try_from(self.id).ok().and_then(Pid::from_raw) {
            let _ = kill_process(id, signal);
        }
    }

    /// The namespace of this kind, such as `net:[4026531840]`.
    pub(crate) fn namespace(&self, kind: &str) -> Option<PathBuf> {
        fs::read_link(self.file(&format!("ns/{kind}"))).ok()
    }

    fn file(&self, name: &str) -> String {
        format!("/proc/{}/{name}", self.id)
    }
}

/// All processes that have not ended.
pub(crate) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|id: u32| of_status(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?))
        .collect()
}

/// All descendants of `process`.
pub(crate) fn descendants(process: u32) -> Vec<Process> {
    let all = all();
    let mut family = vec![process];
    let mut found = Vec::new();
    while let Some(parent) = family.pop() {
        let children = all.iter().filter(|child| child.parent == parent);
        for child in children {
            family.push(child.id);
            found.push(child.clone());
        }
    }
    found
}

/// Parses `/proc/PID/stat`, `ID (NAME) STATE PARENT …`. NAME may contain any characters. Returns `None` for a zombie.
fn of_status(id: u32, status: &str) -> Option<Process> {
    let (name, rest) = status.split_once('(')?.1.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let ended = matches!(words.next()?, "Z" | "X");
    let parent = words.next()?.parse().ok()?;
    (!ended).then(|| Process { id, parent, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::{Process, descendants, of_status};
    use crate::Program;

    #[test]
    fn a_name_may_hold_spaces_and_brackets() {
        let odd = of_status(7, "7 (a) b (c) S 3 7 7 0");
        assert_eq!(odd, Some(Process { id: 7, parent: 3, name: "a) b (c".to_owned() }));
        assert_eq!(of_status(7, "7 (over) Z 3 7 7 0"), None);
    }

    #[test]
    fn children_of_children_are_found_with_their_surroundings() {
        let shell = Program::new("sh").args(["-c", "sh -c 'sleep 60; true'; true"]).env("PMI_RANK", "5");
        let running = shell.spawn().expect("it starts");
        // While a process starts, its name is visible before its environment can be read.
        let sleeper = || {
            let found = descendants(running.id());
            found.into_iter().find(|process| process.name() == "sleep" && process.rank().is_some())
        };
        let found = (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            sleeper()
        });
        let found = found.expect("the sleeper with its surroundings");
        assert_eq!((found.rank(), found.variable("PMI_RAN")), (Some(5), None));
    }
}
