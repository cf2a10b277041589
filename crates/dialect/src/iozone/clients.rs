//! The client list of `-+m`: where each client should run, and whether the processes of the run are
//! there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::options::{Key, wrong};
use super::settings::Client;
use crate::ToolError;
use crate::launcher::Launcher;
use crate::options::Given;

/// The clients in the list named by the option. Each line has a host, a working directory and a program.
///
/// # Errors
/// Errors if the list cannot be read, or if a line has fewer words.
pub(super) fn read(given: &Given<Key>) -> Result<Vec<Client>, ToolError> {
    let (path, written) = (Path::new(given.text()), given.written.as_str());
    let text = record::read_text(path).map_err(|error| {
        wrong(
            written,
            format!("the client list {} cannot be read: {error}; name a file with a line `HOST DIRECTORY PROGRAM` for each process", path.display()),
        )
    })?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let clients = lines.map(|(number, line)| {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some(host), Some(directory)) => {
                Ok(Client { host: host.to_owned(), directory: PathBuf::from(directory) })
            }
            _ => Err(wrong(
                written,
                format!(
                    "line {number} of {} has one word; a line is `HOST DIRECTORY PROGRAM`",
                    path.display()
                ),
            )),
        }
    });
    clients.collect()
}

/// Compares the first `tasks` clients with the processes of the launcher. Errors if the list cannot be
/// used at all; lesser differences are warnings.
///
/// # Errors
/// Errors if there are clients on several hosts but no launcher.
pub(super) fn check(
    clients: &[Client],
    tasks: u32,
    launcher: Launcher<'_>,
    written: &str,
) -> Result<Vec<String>, ToolError> {
    let wanted = per_host(clients.iter().take(tasks as usize));
    if launcher.node_of.is_empty() {
        let only_here = wanted.keys().all(|host| matches!(*host, "localhost" | "127.0.0.1" | "::1"));
        if only_here || wanted.is_empty() {
            return Ok(Vec::new());
        }
        let each = wanted.values().max().copied().unwrap_or(1);
        let hosts: Vec<&str> = wanted.keys().copied().collect();
        return Err(wrong(
            written,
            format!(
                "IOzone starts its children by rsh or ssh; ioproof needs a launcher, and there is none. The \
                 list requires {tasks} processes on {} hosts, {each} on each: start the same command line \
                 with `srun -N {} --ntasks-per-node={each} ioproof iozone …` or `mpirun -np {tasks} --host \
                 {} ioproof iozone …`",
                wanted.len(),
                wanted.len(),
                hosts.iter().map(|host| format!("{host}:{}", wanted[host])).collect::<Vec<_>>().join(","),
            ),
        ));
    }
    let mut warnings = Vec::new();
    let there =
        launcher.names.len().max(launcher.node_of.iter().collect::<std::collections::BTreeSet<_>>().len());
    if wanted.len() != there {
        warnings.push(format!(
            "the client list names {} hosts, the launcher has started processes on {there}: the launcher \
             decides where they run, the list only gives their directories",
            wanted.len()
        ));
    }
    let is_there = |host: &&str| launcher.names.iter().any(|name| short(name) == short(host));
    let missing: Vec<&str> = wanted.keys().copied().filter(|host| !is_there(host)).collect();
    if !launcher.names.is_empty() && !missing.is_empty() && !missing.iter().all(|host| *host == "localhost") {
        warnings.push(format!(
            "no process runs on {} of the client list; the nodes are {}",
            missing.join(", "),
            launcher.names.join(", ")
        ));
    }
    Ok(warnings)
}

fn short(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn per_host<'c>(clients: impl Iterator<Item = &'c Client>) -> BTreeMap<&'c str, usize> {
    clients.fold(BTreeMap::new(), |mut all, client| {
        *all.entry(client.host.as_str()).or_insert(0) += 1;
        all
    })
}
