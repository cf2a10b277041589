//! Errors and warnings that a tool prints about its own measurement.
//!
//! Each kind is known by words of its line, in any case. The lines were seen in outputs of IOR, mdtest, md-workbench
//! and elbencho; only lines with the word `WARNING` or `ERROR` in capitals count, since launchers and libraries
//! print theirs otherwise, or about other things. IOzone and ioping begin theirs with words of their own.

use plan::Phase;
use record::ReportedError;

use super::lines::Line;
use crate::import::draft::{Pass, Test};
use crate::import::error::shown;

/// Words of a line in lower case, all of which it has, and what it reports.
pub(crate) type Words = (&'static [&'static str], ReportedError);

/// What lines with `WARNING` or `ERROR` report.
const KINDS: [Words; 16] = [
    (&["incorrect data"], ReportedError::WrongData),
    (&["verif", "error"], ReportedError::WrongData),
    (&["verif", "fail"], ReportedError::WrongData),
    (&["data check", "error"], ReportedError::WrongData),
    (&["corrupt"], ReportedError::WrongData),
    (&["fsync", "failed"], ReportedError::NotDurable),
    (&["fsync", "only available"], ReportedError::NotDurable),
    (&["fsync", "not supported"], ReportedError::NotDurable),
    (&["partial read"], ReportedError::Short),
    (&["partial write"], ReportedError::Short),
    (&["inconsistent file size"], ReportedError::Short),
    (&["drop", "cache"], ReportedError::Caches),
    (&["cache", "flush"], ReportedError::Caches),
    (&["clock"], ReportedError::Clock),
    (&["read", "failed"], ReportedError::Failed),
    (&["write", "failed"], ReportedError::Failed),
];

/// How lines of a tool begin that are errors without such a word, and what they report.
const BEGINNINGS: [(&str, &str, ReportedError); 7] = [
    ("iozone", "Error in file:", ReportedError::WrongData),
    ("iozone", "fsync:", ReportedError::NotDurable),
    ("iozone", "Error reading block", ReportedError::Failed),
    ("iozone", "Error writing block", ReportedError::Failed),
    ("iozone", "Error freading block", ReportedError::Failed),
    ("iozone", "Error fwriting block", ReportedError::Failed),
    ("ioping", "ioping: request failed", ReportedError::Failed),
];

/// The first of `kinds` all of whose words `text` has, in any case.
pub(crate) fn kind(text: &str, kinds: &[Words]) -> Option<ReportedError> {
    let lower = text.to_ascii_lowercase();
    let is_it = |words: &[&str]| words.iter().all(|word| lower.contains(word));
    kinds.iter().find(|(words, _)| is_it(words)).map(|(_, error)| *error)
}

/// The messages of one kind.
#[derive(Debug, Clone)]
struct Message {
    error: ReportedError,
    line: u32,
    text: String,
}

/// The messages in an output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Messages(Vec<Message>);

impl Messages {
    /// Those in `lines`, which `tool` has printed.
    pub(crate) fn of<'a>(tool: &str, lines: impl Iterator<Item = Line<'a>>) -> Self {
        Self(lines.filter_map(|line| message(tool, &line)).collect())
    }

    /// Adds each message to the figures that it is about. Where passes are printed one by one, that is the next one
    /// after the message; otherwise all of them. Of these, those whose phase the error can occur in.
    pub(crate) fn tell(&self, tests: &mut [Test]) {
        for message in &self.0 {
            match next_pass(message, tests) {
                Some(line) => {
                    let passes = tests.iter_mut().flat_map(|test| &mut test.passes);
                    passes.filter(|pass| first_line(pass) == Some(line)).for_each(|pass| message.tell(pass));
                }
                None => message.tell_all(tests),
            }
        }
    }

    /// Adds each message to the figures of `test` whose phase the error can occur in.
    pub(crate) fn tell_of(&self, test: &mut Test) {
        for message in &self.0 {
            message.tell_all(std::slice::from_mut(test));
        }
    }
}

impl Message {
    fn tell(&self, pass: &mut Pass) {
        pass.reported(self.error, 1, &self.text);
    }

    /// Adds it to all figures that it may concern, or to all figures if there are none of these.
    fn tell_all(&self, tests: &mut [Test]) {
        let mut phases = tests.iter().flat_map(|test| &test.passes).map(|pass| pass.row.key.phase);
        let is_any = !phases.any(|phase| may_concern(self, phase));
        let passes = tests.iter_mut().flat_map(|test| &mut test.passes);
        passes
            .filter(|pass| is_any || may_concern(self, pass.row.key.phase))
            .for_each(|pass| self.tell(pass));
    }
}

/// What a line of `tool` reports.
fn message(tool: &str, line: &Line<'_>) -> Option<Message> {
    let text = line.text.trim();
    let begins =
        |(of, beginning, _): &&(&str, &str, ReportedError)| *of == tool && text.starts_with(beginning);
    let error = match BEGINNINGS.iter().find(begins) {
        Some((_, _, error)) => *error,
        None if text.contains("WARNING") || text.contains("ERROR") => kind(text, &KINDS)?,
        None => return None,
    };
    Some(Message { error, line: line.number, text: shown(text) })
}

/// The line of the first pass after the message that was printed on its own and can have its error.
fn next_pass(message: &Message, tests: &[Test]) -> Option<u32> {
    let passes = tests.iter().flat_map(|test| &test.passes);
    let after = passes.filter(|pass| may_concern(message, pass.row.key.phase)).filter_map(first_line);
    after.filter(|line| *line > message.line).min()
}

/// The line of a pass that was printed on its own.
fn first_line(pass: &Pass) -> Option<u32> {
    pass.printed.iter().filter(|one| one.statistic == "single").map(|one| one.line).min()
}

/// Whether `message` can be about a phase: its line may name a direction, and only what is written can fail to be
/// durable.
fn may_concern(message: &Message, phase: Phase) -> bool {
    let writes = matches!(phase, Phase::Write | Phase::Fill | Phase::FileCreate);
    let reads = matches!(phase, Phase::Read | Phase::CheckRead | Phase::CheckWrite | Phase::FileRead);
    let lower = message.text.to_ascii_lowercase();
    match (message.error, lower.contains("read"), lower.contains("write")) {
        (ReportedError::NotDurable, ..) | (_, false, true) => writes,
        (_, true, false) => reads,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::text::lines::numbered;

    fn reports(text: &str) -> Vec<ReportedError> {
        Messages::of("IOR", numbered(text, 1)).0.iter().map(|one| one.error).collect()
    }

    #[test]
    fn errors_of_the_measurement_are_told_from_other_lines() {
        assert_eq!(
            reports("ior WARNING: fsync() failed, errno 9, Bad file descriptor"),
            [ReportedError::NotDurable]
        );
        assert_eq!(
            reports("WARNING: Task 3, partial read(), 25 of 33 bytes at offset 0"),
            [ReportedError::Short]
        );
        assert_eq!(reports("WARNING: incorrect data on read (3 errors found)."), [ReportedError::WrongData]);
        let of = |tool| Messages::of(tool, numbered("fsync: Input/output error", 1)).0.len();
        assert_eq!((of("iozone"), of("elbencho")), (1, 0), "an error of one tool may be a value of another");
        let others = "WARNING: Expected aggregate file size       = 8589934592
WARNING: Maybe caused by deadlineForStonewalling
ior WARNING: cannot open hints file.
WARNING: There are more than one active ports on host 'b1', but the
srun: Warning: can't run 4 processes on 1 nodes, setting nnodes to 1
write     1024.00    1048576    1024.00    0.001000   3.99       0.010000   4.00       0";
        assert_eq!(reports(others), []);
    }
}
