//! Data from storage servers and clients before and after a phase: the output of commands that a study
//! names, run by the first process, and of `lfs getstripe` for the measured files.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use engine::Controls;
use host::servers::{CollectedOutput, Counter, counters};
use host::{Host, OutputFile, ends_with_us, find_on_path};
use plan::limits::SERVER_TEXT_BYTES;
use plan::{Bytes, Case, Plan};
use record::{PhaseKey, ServerRow, ServerTextRow, SharedText, Warning};
use rustix::process::{Pid, Signal, kill_process_group};

/// Default time limit.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Interval at which a command's exit is polled.
const LOOK: Duration = Duration::from_millis(5);
/// Maximum number of bytes of stderr that are read.
const COMPLAINTS_MAX: u64 = 64 << 10;
/// Maximum number of files of a pass whose layout is queried.
const FILES_MAX: usize = 256;
/// Maximum value of a counter in a record.
const VALUE_MAX: u64 = 1 << 60;

/// The commands of targets that print server counters. Constructing this value from a plan means consent to
/// run them; constructing it from a record does not.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    targets: BTreeMap<String, (Vec<String>, Duration)>,
}

/// Output of the commands before a phase.
#[derive(Debug, Default)]
pub(crate) struct OutputBefore {
    told: Vec<CollectedOutput>,
    limit: Duration,
    warnings: Vec<Warning>,
}

impl Servers {
    /// The commands of `plan`.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let asking = plan.criteria.targets.iter().filter(|target| !target.server_collect.is_empty());
        let of = |target: &plan::TargetDescription| {
            let limit = target.server_time_limit.map_or(TIME_LIMIT, Duration::from);
            (target.name.clone(), (target.server_collect.clone(), limit))
        };
        Self { targets: asking.map(of).collect() }
    }

    /// Runs the commands before a phase of `case`. A failed command is reported, and not run again after
    /// the phase.
    pub(crate) fn before(&self, case: &Case, controls: &Controls) -> OutputBefore {
        let Some((commands, limit)) = self.targets.get(&case.target) else { return OutputBefore::default() };
        let mut output = OutputBefore { limit: *limit, ..OutputBefore::default() };
        for source in commands {
            match printed(shell(source), *limit, controls) {
                Ok(text) => {
                    output.told.push(CollectedOutput {
                        source: source.clone(),
                        before: Some(text),
                        after: None,
                    });
                }
                Err(reason) => output.untold(source, reason),
            }
        }
        output
    }
}

impl OutputBefore {
    fn untold(&mut self, source: &str, reason: String) {
        self.warnings.push(Warning::ServerUntold { source: source.to_owned(), reason });
    }

    /// Runs the commands again after the phase, and queries the layout of its files. Returns all output and
    /// the failures.
    pub(crate) fn after(
        mut self,
        case: &Case,
        pass: u32,
        host: &Host,
        controls: &Controls,
    ) -> (Vec<CollectedOutput>, Vec<Warning>) {
        for mut told in std::mem::take(&mut self.told) {
            match printed(shell(&told.source), self.limit, controls) {
                Ok(text) => told.after = Some(text),
                Err(reason) => self.untold(&told.source, reason),
            }
            self.told.push(told);
        }
        if let Some(command) = layout(case, pass, host) {
            match printed(command, TIME_LIMIT, controls) {
                Ok(text) => {
                    let source = "lfs getstripe".to_owned();
                    self.told.push(CollectedOutput { source, before: None, after: Some(text) });
                }
                Err(reason) => self.untold("lfs getstripe", reason),
            }
        }
        for told in &self.told {
            self.warnings.extend(unread(told));
        }
        if controls.is_stopped() {
            self.warnings.clear();
        }
        (self.told, self.warnings)
    }
}

/// A warning if a text could not be fully used.
fn unread(told: &CollectedOutput) -> Option<Warning> {
    let text = told.before.as_ref().or(told.after.as_ref())?;
    let found = counters(text);
    let reason = match (found.is_empty(), told.before == told.after) {
        (true, _) => "printed nothing that ioproof can parse",
        (_, true) if found.iter().any(|one| !one.is_setting()) => {
            "printed the same before and after: only its settings count"
        }
        _ => return None,
    };
    Some(Warning::ServerUntold { source: told.source.clone(), reason: reason.to_owned() })
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

/// The command that prints the storage targets of a pass's files, if they are on Lustre.
fn layout(case: &Case, pass: u32, host: &Host) -> Option<Command> {
    let workload = &case.workload;
    let is_lustre = |target| host.file_system_of(target).is_ok_and(|place| place.kind == "lustre");
    if !workload.backend.moves_data() {
        return None;
    }
    let _ = workload.files.targets.iter().find(|target| is_lustre(target))?;
    let files = workload.listed_files(pass);
    if files.is_empty() {
        return None;
    }
    let mut command = Command::new(find_on_path("lfs")?);
    command.arg("getstripe");
    command.args(files.iter().take(FILES_MAX).map(|slot| &slot.path));
    Some(command)
}

/// The output of `command`, or why it failed, phrased as the end of a sentence.
fn printed(mut command: Command, limit: Duration, controls: &Controls) -> Result<String, String> {
    let cannot = |what: &'static str| move |error: io::Error| format!("cannot be {what}: {error}");
    let (out, complaints) =
        OutputFile::new().and_then(|out| Ok((out, OutputFile::new()?))).map_err(cannot("read"))?;
    command.stdin(Stdio::null());
    command.stdout(out.for_child().map_err(cannot("read"))?);
    command.stderr(complaints.for_child().map_err(cannot("read"))?);
    ends_with_us(&mut command);
    // Ctrl-C at the terminal only reaches this process; processes started by a script end with the
    // script.
    let mut running = Running(command.process_group(0).spawn().map_err(cannot("started"))?);
    let until = Instant::now() + limit;
    let status = loop {
        if let Some(status) = running.0.try_wait().map_err(cannot("waited for"))? {
            break status;
        }
        if controls.is_stopped() {
            return Err("was terminated with the run".to_owned());
        }
        if Instant::now() >= until {
            return Err(format!("took longer than {} s", limit.as_secs_f64()));
        }
        if [&out, &complaints]
            .into_iter()
            .any(|one| one.bytes().is_ok_and(|bytes| bytes > SERVER_TEXT_BYTES as u64))
        {
            return Err(format!("printed more than {}", Bytes(SERVER_TEXT_BYTES as u64)));
        }
        thread::sleep(LOOK);
    };
    if status.success() {
        let text = out.first(SERVER_TEXT_BYTES as u64).map_err(cannot("read"))?;
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    let (complaints, _) = complaints.last(COMPLAINTS_MAX).map_err(cannot("read"))?;
    let complaints = String::from_utf8_lossy(&complaints);
    let last = complaints.lines().rev().map(str::trim).find(|line| !line.is_empty());
    Err(format!("failed ({status}): {}", last.unwrap_or("no further message")))
}

/// A running command in its own process group. It is ended on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // This includes background processes of a script.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// The rows of the output before and after a phase on `node`. An empty name means a command. If a command
/// prints the same text twice, for example because a file is not being updated, its counters are useless.
pub(crate) fn rows(
    key: &PhaseKey,
    node: &str,
    told: &CollectedOutput,
) -> (Vec<ServerRow>, Vec<ServerTextRow>) {
    let (node, source) = (SharedText::from(node), SharedText::from(told.source.as_str()));
    let is_stale = node.is_empty() && told.before == told.after;
    let read = |text: &Option<String>| text.as_deref().map_or_else(Vec::new, counters);
    let (before, after) = (read(&told.before), if is_stale { Vec::new() } else { read(&told.after) });
    let mut words: HashMap<String, SharedText> = HashMap::new();
    let mut shared =
        |text: &str| -> SharedText { words.entry(text.to_owned()).or_insert_with(|| text.into()).clone() };
    let mut rows: Vec<ServerRow> = Vec::new();
    // A name may occur more than once in a text, so occurrences are matched in order.
    let mut places: HashMap<(Counter, u32), usize> = HashMap::new();
    for (is_after, all) in [(false, before), (true, after)] {
        let mut times: HashMap<Counter, u32> = HashMap::new();
        for one in all {
            let value = Some(one.value.min(VALUE_MAX));
            let name = Counter { value: 0, ..one };
            let time = times.entry(name.clone()).or_default();
            *time += 1;
            let place = *places.entry((name.clone(), *time)).or_insert_with(|| {
                rows.push(ServerRow {
                    key: key.clone(),
                    node: node.clone(),
                    source: source.clone(),
                    system: shared(name.system),
                    device: shared(&name.device),
                    counter: shared(name.counter),
                    before: None,
                    after: None,
                });
                rows.len() - 1
            });
            *(if is_after { &mut rows[place].after } else { &mut rows[place].before }) = value;
        }
    }
    let texts =
        [("before", &told.before), ("after", &told.after)].into_iter().filter_map(|(moment, text)| {
            // An unchanged text is stored once.
            let text = text.as_deref().filter(|_| moment == "before" || told.before != told.after)?;
            let kept = text.floor_char_boundary(ServerTextRow::KEPT_BYTES);
            Some(ServerTextRow {
                key: key.clone(),
                node: node.clone(),
                source: source.clone(),
                moment: moment.into(),
                bytes: text.len() as u64,
                text: text[..kept].into(),
            })
        });
    let texts = texts.collect();
    (rows, texts)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::Controls;
    use host::servers::CollectedOutput;
    use plan::Phase;
    use record::{PhaseKey, ServerTextRow, Warning};

    use super::{printed, rows, shell, unread};

    const LONG: Duration = Duration::from_secs(60);

    fn say(line: &str, limit: Duration) -> Result<String, String> {
        printed(shell(line), limit, &Controls::new())
    }

    #[test]
    fn a_command_says_something_or_why_not() {
        assert_eq!(say("printf one; printf two >&2", LONG), Ok("one".to_owned()));
        let failed = say("echo first >&2; echo 'no such host' >&2; exit 3", LONG).unwrap_err();
        assert!(failed.contains("exit status: 3") && failed.ends_with("no such host"), "{failed}");
    }

    /// A background process keeps the pipe open.
    #[test]
    fn nothing_that_hangs_is_waited_for() {
        for line in ["sleep 1000", "trap '' TERM; sleep 1000 & wait"] {
            let late = say(line, Duration::from_millis(50)).unwrap_err();
            assert_eq!(late, "took longer than 0.05 s", "{line}");
        }
        // Background processes are ended too.
        assert_eq!(say("sleep 1000 &", LONG).as_deref(), Ok(""));
        let controls = Controls::new();
        controls.stop();
        let stopped = printed(shell("sleep 1000"), LONG, &controls).unwrap_err();
        assert_eq!(stopped, "was terminated with the run");
    }

    /// The command is ended when its output is no longer read.
    #[test]
    fn what_never_ends_is_cut() {
        assert!(say("yes", LONG).is_err());
    }

    fn told(before: &str, after: Option<&str>) -> CollectedOutput {
        let after = after.map(str::to_owned);
        CollectedOutput { source: "ask".to_owned(), before: Some(before.to_owned()), after }
    }

    fn of(told: &CollectedOutput) -> Vec<(String, Option<u64>, Option<u64>)> {
        let key = PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Read };
        let rows = rows(&key, "", told).0.into_iter().filter(|row| &*row.counter == "read_bytes");
        rows.map(|row| (format!("{}.{}", row.device, row.counter), row.before, row.after)).collect()
    }

    #[test]
    fn counters_of_two_texts_meet_by_their_names() {
        let stats =
            |of: &str, sum: u64| format!("obdfilter.{of}.stats=\nread_bytes 1 samples [bytes] 1 1 {sum}\n");
        let before = [stats("a-OST0000", 1), stats("a-OST0000", 2), stats("a-OST0001", 3)].concat();
        let after = [stats("a-OST0000", 10), stats("a-OST0002", 30), stats("a-OST0000", 20)].concat();
        let expected = [
            ("a-OST0000.read_bytes", Some(1), Some(10)),
            ("a-OST0000.read_bytes", Some(2), Some(20)),
            ("a-OST0001.read_bytes", Some(3), None),
            ("a-OST0002.read_bytes", None, Some(30)),
        ];
        let expected = expected.map(|(name, before, after)| (name.to_owned(), before, after));
        assert_eq!(of(&told(&before, Some(&after))), expected);
        // A file that is not being updated.
        assert_eq!(of(&told(&before, Some(&before)))[0].2, None);
        let warned = unread(&told(&before, Some(&before)));
        assert!(matches!(warned, Some(Warning::ServerUntold { reason, .. }) if reason.contains("the same")));
        assert_eq!(unread(&told("osd-ldiskfs.a-OST0000.read_cache_enable=0", None)), None);
        assert!(unread(&told("command not found", Some(""))).is_some());
    }

    #[test]
    fn long_texts_are_kept_in_part() {
        let key = PhaseKey { case: "c".into(), repetition: 0, phase: Phase::Read };
        let long = "é".repeat(ServerTextRow::KEPT_BYTES);
        let texts = rows(&key, "", &told(&long, Some("x"))).1;
        assert_eq!((texts[0].bytes, texts[0].text.len()), (long.len() as u64, ServerTextRow::KEPT_BYTES));
        assert_eq!((&*texts[1].moment, &*texts[1].text), ("after", "x"));
        assert_eq!(rows(&key, "", &told(&long, Some(&long))).1.len(), 1);
    }
}
