//! Other programs of this host.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Time limit for a program that says something about the host, so that one that hangs does not block the others.
const PATIENCE: Duration = Duration::from_secs(5);

/// Directories of system programs in addition to `PATH`. Ordinary users often lack `sbin`, and the
/// directory of GPFS is never in the default path.
const SBIN: &str = "/usr/sbin:/sbin:/usr/bin:/bin:/usr/lpp/mmfs/bin";

/// The directories in `PATH` and [`SBIN`], except relative ones, which would depend on the working
/// directory.
pub(crate) fn search_path() -> String {
    match std::env::var("PATH") {
        Ok(own) => format!("{own}:{SBIN}"),
        Err(_) => SBIN.to_owned(),
    }
}

/// The path of `program`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    find_in(&search_path(), program)
}

/// The path of the `program` that a shell would start. Only searches `PATH`.
#[must_use]
pub fn find_on_path(program: &str) -> Option<PathBuf> {
    find_in(&std::env::var("PATH").ok()?, program)
}

fn find_in(directories: &str, program: &str) -> Option<PathBuf> {
    directories
        .split(':')
        .filter(|directory| directory.starts_with('/'))
        .map(|directory| Path::new(directory).join(program))
        .find(|place| place.is_file())
}

/// The output of a program on both streams, because mdadm prints its version to stderr.
pub(crate) fn output(path: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut child = Command::new(path)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let (sender, receiver) = mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|one| Box::new(one) as Box<dyn Read + Send>),
        child.stderr.take().map(|one| Box::new(one) as Box<dyn Read + Send>),
    ];
    for mut stream in streams.into_iter().flatten() {
        let sender = sender.clone();
        let reader = std::thread::Builder::new().spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            let _ = sender.send(bytes);
        });
        if let Err(error) = reader {
            // It may have exited already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("cannot start a thread to read its output: {error}"));
        }
    }
    drop(sender);
    let mut text = String::new();
    for _ in 0..2 {
        let Ok(bytes) = receiver.recv_timeout(PATIENCE) else {
            // It may have exited already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("no output within {} s", PATIENCE.as_secs()));
        };
        text.push_str(&String::from_utf8_lossy(&bytes));
        text.push('\n');
    }
    child.wait().map_err(|error| error.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::output;

    #[test]
    fn both_streams_of_a_program_are_read() {
        let text = output(Path::new("/bin/sh"), &["-c", "echo out; echo err >&2"]).unwrap();
        assert!(text.contains("out") && text.contains("err"), "{text}");
        assert!(output(Path::new("/no/such/program"), &[]).is_err());
    }
}
