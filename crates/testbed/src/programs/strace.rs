//! The I/O system calls that a program makes, as recorded by strace(1).
//!
//! Transfers through io_uring are not system calls: only `io_uring_enter` is visible.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::programs::command;
use crate::{Error, Finished, Program, Scratch};

/// The system calls that are traced by default.
const CALLS: &str =
    "openat,read,write,pread64,pwrite64,lseek,fadvise64,fsync,fdatasync,fallocate,ftruncate,unlink,unlinkat";

/// Runs programs under strace.
///
/// ```
/// use testbed::{Program, Strace};
/// if testbed::skipped(Strace::available()) {
///     return;
/// }
/// let cat = Program::new("cat").arg("/proc/version");
/// let trace = Strace::new().run(&cat).unwrap();
/// assert!(trace.of("openat").any(|call| call.path.as_deref() == Some("/proc/version".as_ref())));
/// ```
#[derive(Debug, Clone)]
pub struct Strace {
    calls: String,
    only: Option<PathBuf>,
    injections: Vec<String>,
}

impl Default for Strace {
    fn default() -> Self {
        Self::new()
    }
}

impl Strace {
    /// Traces the calls that open, read, write, advise, sync, resize and remove files.
    #[must_use]
    pub fn new() -> Self {
        Self { calls: CALLS.to_owned(), only: None, injections: Vec::new() }
    }

    /// Whether programs can be traced on this machine.
    ///
    /// # Errors
    /// Describes what is missing, for a `skipped:` line.
    pub fn available() -> Result<(), String> {
        command::needs_tools(&["strace"])?;
        match command::run("strace", ["-o", "/dev/null", "true"]) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("strace may not trace here: {error}")),
        }
    }

    /// Traces other calls, for example `pread64,io_uring_enter`.
    #[must_use]
    pub fn calls(mut self, names: &str) -> Self {
        names.clone_into(&mut self.calls);
        self
    }

    /// Restricts tracing and injection to calls that access this file.
    #[must_use]
    pub fn only_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.only = Some(path.into());
        self
    }

    /// Makes a call fail or return a different value: `("pread64", "error=EIO:when=3")`, `("pwrite64",
    /// "retval=512:when=2+")`. See `inject` in strace(1).
    #[must_use]
    pub fn inject(mut self, call: &str, fault: &str) -> Self {
        self.injections.push(format!("inject={call}:{fault}"));
        self
    }

    /// Runs `program` with all its threads and children until they end.
    ///
    /// # Errors
    /// The program cannot be started or exceeds its time limit, or the trace cannot be parsed.
    pub fn run(&self, program: &Program) -> Result<Trace, Error> {
        let scratch = Scratch::on_disk()?;
        // Use one file per thread: in a common file calls of different threads interrupt each other.
        let prefix = scratch.path().join("trace");
        let mut arguments: Vec<OsString> =
            ["-ff", "-y", "-s", "0", "-a", "0", "-qq", "--signal=none", "--absolute-timestamps=unix,ns"]
                .map(OsString::from)
                .to_vec();
        arguments.extend(["-e".into(), format!("trace={}", self.calls).into()]);
        for injection in &self.injections {
            arguments.extend(["-e".into(), injection.into()]);
        }
        if let Some(path) = &self.only {
            arguments.extend(["-P".into(), path.into()]);
        }
        arguments.extend(["-o".into(), prefix.into(), "--".into()]);
        let finished = program.under("strace", arguments).run()?;
        Ok(Trace { finished, calls: read_traces(scratch.path())? })
    }
}

/// The result of a traced program.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The exit status and the output.
    pub finished: Finished,
    /// Its system calls, ordered by start time.
    pub calls: Vec<Call>,
}

impl Trace {
    /// All calls with this name.
    pub fn of(&self, name: &str) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| call.name == name)
    }

    /// All calls with this name on this file.
    pub fn on(&self, name: &str, path: &Path) -> impl Iterator<Item = &Call> {
        self.of(name).filter(move |call| call.path.as_deref() == Some(path))
    }
}

/// One system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The thread that made it.
    pub thread: u32,
    /// Start time, nanoseconds since 1970-01-01 UTC.
    pub at_unix_ns: u64,
    /// Its name, such as `pread64`.
    pub name: String,
    /// Its arguments as strace writes them.
    pub arguments: Vec<String>,
    /// The file that it accesses.
    pub path: Option<PathBuf>,
    /// The return value, -1 for an error. `None` if the call never returned.
    pub returned: Option<i64>,
    /// The error, such as `EIO`.
    pub error: Option<String>,
    /// Whether strace injected the result.
    pub injected: bool,
}

impl Call {
    /// The number of bytes requested.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let position = match self.name.as_str() {
            "read" | "write" | "pread64" | "pwrite64" | "fadvise64" => 2,
            "fallocate" => 3,
            "ftruncate" => 1,
            _ => return None,
        };
        self.arguments.get(position)?.parse().ok()
    }

    /// The requested offset.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        let position = match self.name.as_str() {
            "pread64" | "pwrite64" => 3,
            "fadvise64" | "lseek" => 1,
            "fallocate" => 2,
            _ => return None,
        };
        self.arguments.get(position)?.parse().ok()
    }

    /// Whether the arguments contain a symbolic value such as `O_DIRECT` or `POSIX_FADV_RANDOM`.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        self.arguments.iter().any(|argument| argument.split('|').any(|part| part == word))
    }
}

fn read_traces(directory: &Path) -> Result<Vec<Call>, Error> {
    let mut calls = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::file(directory))?.flatten() {
        let path = entry.path();
        let thread = path.extension().and_then(|end| end.to_str()?.parse().ok()).unwrap_or(0);
        let text = fs::read(&path).map_err(Error::file(&path))?;
        calls.extend(parse(thread, &String::from_utf8_lossy(&text))?);
    }
    calls.sort_by_key(|call| call.at_unix_ns);
    Ok(calls)
}

/// Parses the trace of one thread.
fn parse(thread: u32, text: &str) -> Result<Vec<Call>, Error> {
    let wrong = |(index, line): (usize, &str)| Error::Trace { line: index + 1, text: line.to_owned() };
    let of_a_call =
        |(_, line): &(usize, &str)| !line.is_empty() && !line.contains(" +++ ") && !line.contains(" --- ");
    let lines = text.lines().enumerate().filter(of_a_call);
    lines.map(|line| parse_call(thread, line.1).ok_or_else(|| wrong(line))).collect()
}

/// Parses `SECONDS.NANOSECONDS NAME(ARGUMENT, …) = RESULT`.
fn parse_call(thread: u32, line: &str) -> Option<Call> {
    let (time, rest) = line.split_once(' ')?;
    let (seconds, nanos) = time.split_once('.')?;
    let at_unix_ns = seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)? + nanos.parse::<u64>().ok()?;
    let (name, rest) = rest.split_once('(')?;
    let (arguments, rest) = split_arguments(rest)?;
    let result = rest.trim_start().strip_prefix("= ")?;
    let mut words = result.split(' ');
    let value = words.next()?;
    let number = value.split('<').next()?;
    let returned = match number.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    };
    let error = (returned == Some(-1)).then(|| words.next().unwrap_or_default().to_owned());
    Some(Call {
        thread,
        at_unix_ns,
        name: name.to_owned(),
        path: path_of(name, &arguments),
        injected: result.ends_with("(INJECTED)"),
        returned,
        error,
        arguments,
    })
}

/// Splits at commas outside of strings, descriptor paths and braces. Also returns the text after the closing
/// parenthesis.
fn split_arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let (mut arguments, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    // The character that ends the current string or path, inside which no other character is special.
    let mut until = None;
    let mut escaped = false;
    for (index, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if until == Some(letter) => until = None,
            _ if until.is_some() => {}
            '"' => until = Some('"'),
            '<' => until = Some('>'),
            '{' | '[' | '(' => depth += 1,
            ',' | ')' if depth == 0 => {
                arguments.push(text[start..index].trim().to_owned());
                start = index + 1;
                if letter == ')' {
                    return Some((arguments, &text[start..]));
                }
            }
            '}' | ']' | ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The file of a call: the path argument, resolved against the directory that it is relative to, or the path of the
/// descriptor.
fn path_of(name: &str, arguments: &[String]) -> Option<PathBuf> {
    let descriptor = |argument: &String| {
        let (_, path) = argument.split_once('<')?;
        let path = path.strip_suffix("(deleted)").unwrap_or(path).strip_suffix('>')?;
        Some(PathBuf::from(unescape(path)))
    };
    let named = |argument: &String| {
        let quoted = argument.strip_prefix('"')?;
        Some(PathBuf::from(unescape(quoted.strip_suffix('"')?)))
    };
    match name {
        "openat" | "unlinkat" | "mkdirat" | "mknodat" | "renameat" | "renameat2" | "newfstatat" | "statx" => {
            let directory = descriptor(arguments.first()?).unwrap_or_default();
            Some(directory.join(named(arguments.get(1)?)?))
        }
        "unlink" | "open" => named(arguments.first()?),
        _ => descriptor(arguments.first()?),
    }
}

/// Decodes C escapes: `\n`, `\"` and octal numbers of up to three digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.iter().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
        let (code, length) = match rest.first() {
            _ if digits > 0 => {
                let value =
                    rest[..digits].iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                (u8::try_from(value).unwrap_or(b'?'), digits)
            }
            Some(b'n') => (b'\n', 1),
            Some(b't') => (b'\t', 1),
            Some(b'r') => (b'\r', 1),
            Some(b'v') => (0x0b, 1),
            Some(b'f') => (0x0c, 1),
            Some(&other) => (other, 1),
            None => break,
        };
        bytes.push(code);
        rest = &rest[length..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Strace, parse, unescape};
    use crate::{Program, Scratch};

    const LINES: &str = "\
1795263133.805237007 openat(AT_FDCWD</d>, \"a b\\n\", O_RDWR|O_CREAT|O_DIRECT, 0777) = 3</d/a b\\n>
1795263133.806020681 pwrite64(3</d/x, y>, \"\"..., 512, 4096) = 512
1795263133.810549708 fadvise64(3</d/x, y>, 0, 0, POSIX_FADV_RANDOM) = 0
1795263133.810625230 fsync(3</d/gone>(deleted)) = -1 EIO (Input/output error) (INJECTED)
1795263133.818761234 +++ exited with 0 +++
";

    #[test]
    fn calls_are_read_with_their_files_sizes_and_offsets() {
        let calls = parse(7, LINES).expect("calls");
        assert_eq!(calls.len(), 4);
        assert_eq!(calls[0].path.as_deref(), Some(Path::new("/d/a b\n")));
        assert!(calls[0].has("O_DIRECT") && !calls[0].has("O_SYNC"));
        assert_eq!(calls[0].returned, Some(3));
        assert_eq!((calls[1].bytes(), calls[1].offset()), (Some(512), Some(4096)));
        assert_eq!(calls[1].path.as_deref(), Some(Path::new("/d/x, y")));
        assert!(calls[2].has("POSIX_FADV_RANDOM"));
        assert_eq!(calls[3].path.as_deref(), Some(Path::new("/d/gone")));
        assert_eq!((calls[3].error.as_deref(), calls[3].injected), (Some("EIO"), true));
        assert_eq!(calls[3].at_unix_ns, 1_795_263_133_810_625_230);
    }

    #[test]
    fn a_line_of_another_shape_is_named() {
        let error = parse(7, "1.0 close(3) = 0\nnonsense\n").expect_err("no call");
        assert!(error.to_string().contains("line 2") && error.to_string().contains("nonsense"), "{error}");
    }

    proptest! {
        #[test]
        fn every_size_and_offset_comes_back(bytes: u64, offset: u64, name in "[ -;=?-~]{1,20}") {
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
            let line = format!("9.000000001 pread64(5</d/{escaped}>, \"\"..., {bytes}, {offset}) = -1 EIO (x)\n");
            let call = parse(1, &line).expect("a call").remove(0);
            prop_assert_eq!((call.bytes(), call.offset()), (Some(bytes), Some(offset)));
            prop_assert_eq!(call.path.expect("a path"), std::path::PathBuf::from(format!("/d/{name}")));
        }

        #[test]
        fn no_text_makes_the_parser_fall_over(text in "\\PC{0,80}") {
            let _ = parse(1, &text);
            let _ = unescape(&text);
        }
    }

    #[test]
    fn what_a_program_did_is_seen_and_faults_are_injected() {
        if crate::skipped(Strace::available()) {
            return;
        }
        let scratch = Scratch::on_disk().expect("a directory");
        let file = scratch.path().join("data");
        let target = format!("of={}", file.display());
        let dd = Program::new("dd").args(["if=/dev/zero", &target, "bs=4096", "count=3", "conv=fsync"]);
        let trace = Strace::new().run(&dd).expect("a trace");
        assert_eq!(trace.finished.code, Some(0));
        // dd writes to a duplicate of the descriptor. strace knows the path of that too.
        let sizes: Vec<_> = trace.on("write", &file).map(super::Call::bytes).collect();
        assert_eq!(sizes, [Some(4096); 3]);
        assert_eq!(trace.on("fsync", &file).count(), 1);

        let broken = Strace::new().only_path(&file).inject("fsync", "error=EIO").run(&dd).expect("a trace");
        assert_eq!(broken.finished.code, Some(1));
        assert!(broken.of("fsync").all(|call| call.injected && call.error.as_deref() == Some("EIO")));
    }
}
