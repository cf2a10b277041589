//! Programs under test.

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

/// No test needs a program for longer, and a program that hangs must not hang the test run.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// How often a waiting test checks whether the program has ended.
const POLL: Duration = Duration::from_millis(2);
/// How long to wait for other processes that hold the output of an ended program open, such as a launcher's daemon on
/// a host that was cut off. Output that they print later is ignored.
const OTHERS_END: Duration = Duration::from_secs(5);

/// A program, its arguments and its environment. It gets no standard input.
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
    /// The program at `path`, or the program with that name in `PATH`.
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

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args<I, S>(mut self, arguments: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the time after which the program is killed. The default is two minutes.
    #[must_use]
    pub const fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets a directory that is removed when the program has ended.
    pub(crate) fn with_files_in(mut self, files: Scratch) -> Self {
        self.files = Some(Arc::new(files));
        self
    }

    /// The working directory, if it was set.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The same program, started by a wrapper program. The arguments of the wrapper come first.
    pub(crate) fn under(&self, wrapper: impl Into<PathBuf>, arguments: Vec<OsString>) -> Self {
        let own = std::iter::once(self.path.clone().into_os_string()).chain(self.arguments.iter().cloned());
        Self { path: wrapper.into(), arguments: arguments.into_iter().chain(own).collect(), ..self.clone() }
    }

    /// The time limit.
    pub(crate) const fn time_limit(&self) -> Duration {
        self.limit
    }

    /// The same program as a line for `sh`, for cases in which only a shell can start it.
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

    /// Runs the program until it ends.
    ///
    /// # Errors
    /// The program cannot be started, or exceeds its time limit.
    pub fn run(&self) -> Result<Finished, Error> {
        self.spawn()?.wait()
    }

    /// Starts the program.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn spawn(&self) -> Result<Running, Error> {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Use a separate process group, so that the children of the program can be killed with it.
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

/// Quotes a word for the shell.
fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}

/// The output read from a pipe so far, and the thread that reads it.
#[derive(Debug)]
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Reads in the background, so that the program never blocks on a full pipe.
fn collect(mut pipe: impl Read + Send + 'static) -> Collected {
    let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
    let all = Arc::clone(&bytes);
    let reader = std::thread::spawn(move || {
        let mut chunk = [0; 1 << 16];
        loop {
            match pipe.read(&mut chunk) {
                Ok(read @ 1..) => all.lock().unwrap_or_else(PoisonError::into_inner).extend(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Output that was read before an error is still useful.
                Ok(0) | Err(_) => return,
            }
        }
    });
    Collected { bytes, reader }
}

impl Collected {
    /// All output. If other processes still hold the pipe open after the program has ended, waits for them until
    /// `late`.
    fn text(self, late: Instant) -> String {
        while !self.reader.is_finished() && Instant::now() < late {
            std::thread::sleep(POLL);
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A started program. It is killed with its children when the value is dropped.
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
    /// The PID.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal. [`Signal::INT`] corresponds to Ctrl-C.
    ///
    /// # Errors
    /// The program has ended.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        kill_process(Pid::from_child(&self.child), signal).map_err(|e| Error::file(&self.words)(e.into()))
    }

    /// The descendants of the program that have not ended, such as the ranks of a launcher.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        process::descendants(self.child.id())
    }

    /// Whether the program has ended.
    ///
    /// # Errors
    /// The kernel does not report it.
    pub fn has_ended(&mut self) -> Result<bool, Error> {
        if self.status.is_none() {
            self.status = self.child.try_wait().map_err(Error::file(&self.words))?;
        }
        Ok(self.status.is_some())
    }

    /// Waits until the program ends.
    ///
    /// # Errors
    /// The program exceeds its time limit. It is then killed.
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
        // A launcher puts its ranks in their own process groups. SIGKILL also works on stopped processes.
        for process in self.processes() {
            process.signal(Signal::KILL);
        }
        // The program may end by itself in the meantime.
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
    /// Its exit code, or `None` if a signal killed it.
    pub code: Option<i32>,
    /// The signal that killed it, if any.
    pub signal: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its error output.
    pub stderr: String,
    /// Time from start to end.
    pub took: Duration,
}

impl Finished {
    /// Checks the exit code.
    ///
    /// # Panics
    /// The exit code differs. The message contains the output of the program.
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
