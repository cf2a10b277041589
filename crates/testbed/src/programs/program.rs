//! Built programs under test.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::programs::command;
use crate::programs::process;
use crate::programs::signals;
use crate::{Error, Process, Scratch};

/// No test needs a program for longer; one that hangs should not hang the test run.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// How often a waiting test looks whether the program has ended.
const POLL: Duration = Duration::from_millis(2);
/// How long others may hold the output of a program that has ended, such as the daemon of a launcher on a host that was
/// cut off. What they print later is not waited for.
const OTHERS_END: Duration = Duration::from_secs(5);

/// A program, its arguments and its surroundings. It gets no standard input.
///
/// In an integration test the program is `env!("CARGO_BIN_EXE_ioproof")`.
///
/// ```
/// let finished = testbed::Program::new("echo").args(["a", "b"]).run().unwrap();
/// assert_eq!(finished.expect_code(0).stdout, "a b\n");
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    limit: Duration,
    files: Option<Arc<Scratch>>,
}

impl Program {
    /// The program at `path`, or of that name on the path.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
            directory: None,
            limit: TIME_LIMIT,
            files: None,
        }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<I, S>(mut self, arguments: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// A variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Where it starts.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// How long it may take before it is killed; two minutes where it is not set.
    #[must_use]
    pub const fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// A directory that is removed when the program has ended.
    pub(crate) fn with_files_in(mut self, files: Scratch) -> Self {
        self.files = Some(Arc::new(files));
        self
    }

    /// Where it starts, unless that is where the test runs.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The same program started by another one, whose arguments come first.
    pub(crate) fn under(&self, wrapper: impl Into<PathBuf>, arguments: Vec<OsString>) -> Self {
        let own = std::iter::once(self.path.clone().into_os_string()).chain(self.arguments.iter().cloned());
        Self { path: wrapper.into(), arguments: arguments.into_iter().chain(own).collect(), ..self.clone() }
    }

    /// How long it may take.
    pub(crate) const fn time_limit(&self) -> Duration {
        self.limit
    }

    /// The same program as a line of `sh`, for where only a shell can start it.
    #[must_use]
    pub fn shell_line(&self) -> String {
        let mut line = String::new();
        if let Some(directory) = &self.directory {
            line = format!("cd {} && ", quoted(directory.as_os_str()));
        }
        line += "exec env";
        for (name, value) in &self.variables {
            line += &format!(" {}={}", name.to_string_lossy(), quoted(value));
        }
        for word in
            std::iter::once(self.path.as_os_str()).chain(self.arguments.iter().map(OsString::as_os_str))
        {
            line += &format!(" {}", quoted(word));
        }
        line
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// It cannot be started, or takes too long.
    pub fn run(&self) -> Result<Finished, Error> {
        self.spawn()?.wait()
    }

    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(&self) -> Result<Running, Error> {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that its children can be ended with it.
            .process_group(0);
        signals::reset();
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let started = Instant::now();
        let mut child = command.spawn().map_err(Error::file(&self.path))?;
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        Ok(Running {
            child,
            status: None,
            stdout,
            stderr,
            started,
            limit: self.limit,
            words: command::words(&command),
            _files: self.files.clone(),
        })
    }
}

/// A word that a shell takes as it is.
fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}

/// What a pipe has brought so far, and the thread that reads it.
#[derive(Debug)]
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Reads in the background, so that the program is never held up by a full pipe.
fn collect(mut pipe: impl Read + Send + 'static) -> Collected {
    let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
    let all = Arc::clone(&bytes);
    let reader = std::thread::spawn(move || {
        let mut chunk = [0; 1 << 16];
        loop {
            match pipe.read(&mut chunk) {
                Ok(read @ 1..) => all.lock().unwrap_or_else(PoisonError::into_inner).extend(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What was read before an error is still worth showing.
                Ok(0) | Err(_) => return,
            }
        }
    });
    Collected { bytes, reader }
}

impl Collected {
    /// All that came. After the end of the program others are waited for until `late` who hold the pipe open.
    fn text(self, late: Instant) -> String {
        while !self.reader.is_finished() && Instant::now() < late {
            std::thread::sleep(POLL);
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A started program; it is killed with its children when the value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    status: Option<ExitStatus>,
    stdout: Option<Collected>,
    stderr: Option<Collected>,
    started: Instant,
    limit: Duration,
    words: String,
    _files: Option<Arc<Scratch>>,
}

impl Running {
    /// Its process number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, as Ctrl-C does with [`Signal::INT`].
    ///
    /// # Errors
    /// It has ended.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        kill_process(Pid::from_child(&self.child), signal).map_err(|e| Error::file(&self.words)(e.into()))
    }

    /// What it has started, directly or not, and what has not ended: the ranks of a launcher.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        process::descendants(self.child.id())
    }

    /// Whether it has ended.
    ///
    /// # Errors
    /// The kernel cannot tell.
    pub fn has_ended(&mut self) -> Result<bool, Error> {
        if self.status.is_none() {
            self.status = self.child.try_wait().map_err(Error::file(&self.words))?;
        }
        Ok(self.status.is_some())
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// It takes longer than its limit; then it is killed.
    pub fn wait(mut self) -> Result<Finished, Error> {
        let mut timed_out = false;
        while !self.has_ended()? {
            if !timed_out && self.started.elapsed() > self.limit {
                timed_out = true;
                self.kill();
            }
            std::thread::sleep(POLL);
        }
        let took = self.started.elapsed();
        let late = Instant::now() + OTHERS_END;
        let text = |pipe: Option<Collected>| pipe.map(|pipe| pipe.text(late)).unwrap_or_default();
        let (stdout, stderr) = (text(self.stdout.take()), text(self.stderr.take()));
        if timed_out {
            let (command, seconds) = (self.words.clone(), self.limit.as_secs());
            return Err(Error::TimedOut { command, seconds, output: stdout + &stderr });
        }
        let status = self.status.unwrap_or_default();
        let command = self.words.clone();
        Ok(Finished { command, code: status.code(), signal: status.signal(), stdout, stderr, took })
    }

    fn kill(&self) {
        // A launcher gives its ranks groups of their own. Whoever was stopped is killed too.
        for process in self.processes() {
            process.signal(Signal::KILL);
        }
        // It may end by itself between the look and the signal.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// A program that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The program with its arguments.
    pub command: String,
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote to its error output.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
}

impl Finished {
    /// Checks the exit code.
    ///
    /// # Panics
    /// It is another one; the message shows what the program wrote.
    #[must_use = "the output is there to be looked at; write `let _ =` where the code is all that matters"]
    pub fn expect_code(self, code: i32) -> Self {
        assert!(
            self.code == Some(code),
            "`{}` ended with code {:?}, signal {:?} instead of code {code}\n--- output\n{}\n--- errors\n{}",
            self.command,
            self.code,
            self.signal,
            self.stdout,
            self.stderr
        );
        self
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::process::Signal;

    use super::Program;
    use crate::Error;

    #[test]
    fn others_who_hold_the_output_are_not_waited_for() {
        let shell = Program::new("sh").args(["-c", "sleep 100 & echo $!"]);
        let finished = shell.run().expect("it ends").expect_code(0);
        let left = Program::new("kill").arg(finished.stdout.trim()).run().expect("it ends");
        assert_eq!(left.code, Some(0), "it goes on: {finished:?}");
    }

    #[test]
    fn code_and_both_outputs_are_told() {
        let shell = Program::new("sh").args(["-c", "echo out; echo err >&2; pwd; exit $CODE"]);
        let finished = shell.env("CODE", "3").current_dir("/").run().expect("it ends").expect_code(3);
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n/\n", "err\n"));
    }

    #[test]
    fn a_shell_starts_the_same_program() {
        let odd = Program::new("printf").args(["%s|%s\n", "it's $HOME", "a  b"]);
        let program = odd.current_dir("/").env("PLAIN", "yes");
        let line = program.shell_line();
        let finished = Program::new("sh").args(["-c", &line]).run().expect("it ends").expect_code(0);
        assert_eq!(finished.stdout, "it's $HOME|a  b\n", "{line}");
        assert_eq!(program.run().expect("it ends").stdout, finished.stdout);
    }

    #[test]
    fn a_program_that_hangs_is_killed_with_its_children_and_its_output_is_kept() {
        let shell = Program::new("sh").args(["-c", "echo before; sleep 60 & wait"]);
        let error = shell.limit(Duration::from_millis(300)).run().expect_err("it hangs");
        assert!(matches!(&error, Error::TimedOut { output, .. } if output == "before\n"), "{error}");
    }

    #[test]
    fn a_signal_reaches_the_program() {
        let running = Program::new("sleep").arg("60").spawn().expect("it starts");
        running.signal(Signal::INT).expect("it lives");
        let finished = running.wait().expect("it ends");
        assert_eq!((finished.code, finished.signal), (None, Some(2)));
    }
}
