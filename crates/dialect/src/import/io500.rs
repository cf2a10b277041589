//! IO500: `result.txt`, or `result_summary.txt` if that is all there is.
//!
//! Both contain a result and a time for each phase. The amounts are not printed but computed from these, so the
//! result is exact and the amount is approximate. Bandwidths are in GiB/s, rates in 1,000 per second.

use plan::{Condition, Find, Objects, Sharing, Tree, Work, WorkloadSpec};
use record::io500::{BANDWIDTH, EXTENDED, INVALID, METADATA, RESULT, SCORE, SCORE_EXTENDED, TOTAL};

use super::ImportError;
use super::draft::{Draft, Pass, Printed, Test, geometry};
use super::importer::{Form, Importer};
use super::text::command;
use super::text::lines::{Block, Line, nanos, narrow, whole};
use super::text::{times, units};
use crate::io500::{Group, Phase};

/// The tool's name.
const TOOL: &str = "IO500";
const GIB: f64 = 1_073_741_824.0;
/// Bytes of a transfer of `ior-hard`, and of a file of `mdtest-hard`.
const HARD_TRANSFER: u64 = 47_008;
const HARD_FILE: u64 = 3901;

/// Parses `result.txt`.
pub(crate) const IMPORTER: Importer =
    Importer { name: "io500", tool: TOOL, newest: None, form: Form::File { is_it: is_result, read: result } };

/// Parses `result_summary.txt`.
pub(crate) const SUMMARY: Importer = Importer {
    name: "io500-summary",
    tool: TOOL,
    newest: None,
    form: Form::File { is_it: is_summary, read: summary },
};

fn is_result(text: &str) -> bool {
    text.trim_start().starts_with("[run]") && text.contains("\nconfig-hash ")
}

fn is_summary(text: &str) -> bool {
    text.lines().any(|line| summary_line(line).is_some())
        && text.lines().all(|line| {
            let line = line.trim();
            line.is_empty()
                || ["IO500 version", "[RESULT", "[      ]", "[SCORE", "ERROR", "WARNING", "The result files"]
                    .iter()
                    .any(|start| line.starts_with(start))
        })
}

/// What a text contains about a phase.
struct PrintedPhase<'a> {
    phase: Phase,
    line: Line<'a>,
    /// The result in the unit of the phase.
    score: Option<f64>,
    written: &'a str,
    seconds: Option<f64>,
    command: Option<&'a str>,
    started: Option<i64>,
    /// Why the benchmark considers it invalid.
    invalid: Vec<(Line<'a>, &'a str)>,
}

impl<'a> PrintedPhase<'a> {
    const fn new(phase: Phase, line: Line<'a>) -> Self {
        Self {
            phase,
            line,
            score: None,
            written: "",
            seconds: None,
            command: None,
            started: None,
            invalid: Vec::new(),
        }
    }

    fn spec(&self, tasks: u32) -> WorkloadSpec {
        let transfer = self.transfer();
        let target = self.command.and_then(|line| match self.phase.directory() {
            "ior-easy" | "ior-hard" => command::value(line, "-o"),
            "mdtest-easy" | "mdtest-hard" => command::value(line, "-d"),
            _ => None,
        });
        let target = target.unwrap_or_else(|| "unknown".to_owned());
        let mut spec = WorkloadSpec::new(self.phase.name(), target, geometry(transfer));
        spec.tasks = tasks;
        let own_files = self.command.is_none_or(|line| command::has(line, "-F"));
        let is_ior = self.transfer().is_some();
        if self.phase.directory() == "ior-easy" && own_files {
            spec.files.sharing = Sharing::PerTask;
        }
        spec.sync.at_close = is_ior;
        let hard = || Tree {
            write_bytes: plan::Bytes(HARD_FILE),
            read_bytes: plan::Bytes(HARD_FILE),
            ..Tree::flat(1)
        };
        spec.work = match self.phase {
            Phase::Find | Phase::FindEasy | Phase::FindHard => {
                Work::Find(Find { matching: "*01*".to_owned(), ..Find::default() })
            }
            _ => match self.phase.directory() {
                "mdtest-easy" => Work::Tree(Tree { own_trees: true, shift: 1, ..Tree::flat(1) }),
                "mdtest-hard" => Work::Tree(Tree { shift: 1, ..hard() }),
                "mdworkbench" => {
                    Work::Objects(Objects { sets: 10, precreated: 1, steps: 1, ..Objects::default() })
                }
                _ => Work::Transfers,
            },
        };
        spec
    }

    fn known(&self) -> [(Condition, bool); 6] {
        let has = |name: &str| self.command.is_some_and(|line| command::value(line, name).is_some());
        let is_easy = self.phase.directory() == "ior-easy";
        [
            // The rules of the benchmark fix it for all other phases.
            (Condition::Transfer, !is_easy || self.phase == Phase::IorRnd4kEasyRead || has("-t")),
            (Condition::Order, self.transfer().is_some()),
            (Condition::Path, has("-o") || has("-d")),
            (Condition::Sharing, !is_easy || self.command.is_some()),
            (Condition::Sync, self.transfer().is_some()),
            (Condition::Tasks, true),
        ]
    }

    /// Bytes of a transfer, if it is a phase of transfers.
    fn transfer(&self) -> Option<u64> {
        match self.phase {
            Phase::IorHardWrite | Phase::IorHardRead => Some(HARD_TRANSFER),
            Phase::IorRnd4kEasyRead => Some(4096),
            Phase::IorEasyWrite | Phase::IorEasyRead => {
                let written = self.command.and_then(|line| command::value(line, "-t"));
                let bytes = written.as_deref().and_then(|text| units::size(text, false));
                Some(bytes.map_or(2 << 20, whole))
            }
            _ => None,
        }
    }

    /// The test of the phase, or `None` if it has no result.
    fn test(self, tasks: u32) -> Option<Test> {
        let score = self.score.filter(|score| *score > 0.0)?;
        let plural = if tasks == 1 { "task" } else { "tasks" };
        let stated = format!("{}, {tasks} {plural}", self.phase.name());
        let mut test = Test::new(self.phase.name(), self.spec(tasks), &stated).knowing(&self.known());
        let mut pass = Pass::new(self.phase.activity(), 0);
        pass.began(self.started);
        let seconds = self.seconds.filter(|seconds| *seconds > 0.0).unwrap_or_else(|| {
            pass.note("the time of the phase is not printed: the amounts assume one second");
            1.0
        });
        pass.took(nanos(seconds));
        match self.transfer() {
            Some(transfer) => {
                let bytes = whole(score * GIB * seconds);
                pass.moved(bytes.div_ceil(transfer.max(1)), bytes);
            }
            None => {
                let items = whole(score * 1000.0 * seconds);
                let bytes = match self.phase {
                    Phase::MdtestHardWrite | Phase::MdtestHardRead => items.saturating_mul(HARD_FILE),
                    _ => 0,
                };
                pass.moved(items, bytes);
            }
        }
        pass.note("amounts follow from the printed result and the time of the whole phase, which is longer");
        let unit = if self.phase.unit() == "GiB/s" { "GiB/s" } else { "1000/s" };
        let (label, counts_for) = match (self.phase.group(), self.phase.is_extended()) {
            (Group::None, _) => ("result", ""),
            (_, true) => (RESULT, EXTENDED),
            (_, false) => (RESULT, ""),
        };
        pass.printed.push(Printed::new(self.line, label, self.written, unit, counts_for));
        for (line, why) in self.invalid {
            pass.note(format!("the benchmark marks it as invalid{}", because(why)));
            pass.printed.push(Printed::new(line, INVALID, why, "", ""));
        }
        test.passes.push(pass);
        Some(test)
    }
}

/// `: why`, or an empty text if there is no reason.
fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

/// Creates the draft. The scores of all phases are added to the last one.
fn draft(
    block: &Block<'_>,
    found: Vec<PrintedPhase<'_>>,
    tasks: u32,
    scores: Vec<Printed>,
) -> Result<Draft, ImportError> {
    let mut tests: Vec<Test> = found.into_iter().filter_map(|one| one.test(tasks)).collect();
    let Some(last) = tests.last_mut().and_then(|test| test.passes.last_mut()) else {
        return Err(block
            .ended("the result of a phase, such as `score = 1.5` or `[RESULT] ior-easy-write 1.5 GiB/s`"));
    };
    last.printed.extend(scores);
    Ok(Draft { tool: TOOL, tests, ..Draft::default() })
}

/// A score in `section`. If it is invalid, there is a mark after the number.
fn score(line: Line<'_>, section: &'static str, statistic: &str, value: &str) -> Printed {
    let (number, is_invalid) = match value.split_once(" [INVALID]") {
        Some((number, _)) => (number, true),
        None => (value, false),
    };
    let unit = match statistic {
        BANDWIDTH => "GiB/s",
        METADATA => "1000/s",
        _ => "",
    };
    let printed = Printed::new(line, section, number, unit, statistic);
    Printed { value: if is_invalid { value.to_owned() } else { printed.value }, ..printed }
}

/// The section of scores with this name.
fn section_of_scores(name: &str) -> Option<&'static str> {
    [SCORE, SCORE_EXTENDED].into_iter().find(|section| *section == name.trim())
}

fn result(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut found: Vec<PrintedPhase<'_>> = Vec::new();
    let (mut section, mut tasks, mut version, mut scores) = ("", 1, None, Vec::new());
    for line in block.lines {
        let text = line.text.trim();
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            if let Some(phase) = Phase::named(name) {
                found.push(PrintedPhase::new(phase, *line));
            }
            continue;
        }
        let is_phase = Phase::named(section).is_some();
        if let (Some(problem), true) = (text.strip_prefix("; ERROR INVALID "), is_phase) {
            if let Some(one) = found.last_mut() {
                one.invalid.push((*line, problem));
            }
            continue;
        }
        let Some((key, value)) = text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        match (section, key) {
            ("run", "procs") => tasks = narrow(block.count(*line, value, "a number of processes")?).max(1),
            ("run", "version") => version = Some(value.to_owned()),
            _ => {}
        }
        if let Some(section) = section_of_scores(section) {
            let statistic = [("BW", BANDWIDTH), ("MD", METADATA), ("SCORE", TOTAL)];
            let statistic = statistic.into_iter().find(|(name, _)| *name == key);
            scores.extend(statistic.map(|(_, statistic)| score(*line, section, statistic, value)));
        }
        let Some(one) = found.last_mut().filter(|_| is_phase) else { continue };
        match key {
            "score" => {
                (one.score, one.written) = (Some(block.number(*line, value, "a result")?), value);
                one.line = *line;
            }
            "t_delta" => one.seconds = Some(block.number(*line, value, "a time in s")?),
            "t_start" => one.started = times::moment(value),
            "exe" => one.command = Some(value),
            _ => {}
        }
    }
    Ok(Draft { version, ..draft(block, found, tasks, scores)? })
}

/// The phase, the result, the time and the mark in a line of a summary.
fn summary_line(line: &str) -> Option<(Phase, &str, &str, bool)> {
    let rest = line.trim().strip_prefix("[RESULT]").or_else(|| line.trim().strip_prefix("[      ]"))?;
    let (head, tail) = rest.split_once(": time ")?;
    let mut words = head.split_whitespace();
    let phase = Phase::named(words.next()?)?;
    Some((phase, words.next()?, tail.split(' ').next()?, tail.contains("[INVALID]")))
}

/// The scores of `[SCORE ] Bandwidth 1.5 GiB/s : IOPS 20.5 kiops : TOTAL 5.5`.
fn summary_scores(line: Line<'_>) -> Option<[Printed; 3]> {
    let (section, rest) = line.text.trim().strip_prefix('[')?.split_once(']')?;
    let section = section_of_scores(section)?;
    let (bandwidth, rest) = rest.trim().strip_prefix("Bandwidth ")?.split_once(" GiB/s : IOPS ")?;
    let (metadata, total) = rest.split_once(" kiops : TOTAL ")?;
    let of = |statistic, value| score(line, section, statistic, value);
    Some([of(BANDWIDTH, bandwidth), of(METADATA, metadata), of(TOTAL, total)])
}

fn summary(block: &Block<'_>) -> Result<Draft, ImportError> {
    let (mut found, mut scores, mut version) = (Vec::new(), Vec::new(), None);
    for line in block.lines {
        let text = line.text.trim();
        if let Some(rest) = text.strip_prefix("IO500 version ") {
            version = rest.split(' ').next().map(str::to_owned);
        }
        scores.extend(summary_scores(*line).into_iter().flatten());
        let Some((phase, result, seconds, is_invalid)) = summary_line(text) else { continue };
        let mut one = PrintedPhase::new(phase, *line);
        (one.score, one.written) = (Some(block.number(*line, result, "a result")?), result);
        one.seconds = Some(block.number(*line, seconds, "a time in s")?);
        if is_invalid {
            one.invalid.push((*line, ""));
        }
        found.push(one);
    }
    let mut draft = draft(block, found, 1, scores)?;
    draft.doubts.push("a summary does not state the number of processes: one is assumed".to_owned());
    Ok(Draft { version, ..draft })
}
