//! IO500: `result.txt`, or the lines of `result_summary.txt`, which every release prints to the terminal, too.
//!
//! Both contain a result and a time for each phase. The amounts are not printed but computed from these, so the
//! result is exact and the amount is approximate. Bandwidths are in GiB/s, rates in 1,000 per second. Releases up to
//! 2020 print `GB/s` and mean GiB/s: their results are the `Max Write` of IOR in MiB/s ÷ 1024.

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
    form: Form::Lines { starts: starts_summary, is_own: is_result_line, continues: false, read: summary },
};

fn is_result(text: &str) -> bool {
    // Before 2021 there was no `[run]`.
    let begins = |line: &str| line == "[run]" || line.starts_with("version ");
    text.lines().map(str::trim).find(|line| !line.is_empty()).is_some_and(begins)
        && text.contains("\nconfig-hash ")
}

fn starts_summary(line: &str) -> bool {
    line.starts_with("IO500 version ")
}

fn is_result_line(line: &str) -> bool {
    summary_line(line).is_some()
}

/// A phase that is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Named {
    /// A phase of today's benchmark.
    Today(Phase),
    /// Random transfers of the extended mode of 2021.
    Random(&'static RandomTransfers),
}

/// A phase of random transfers in the files of `ior-rnd`.
#[derive(Debug, PartialEq)]
struct RandomTransfers {
    name: &'static str,
    transfer: u64,
    activity: plan::Phase,
}

const RANDOM: [RandomTransfers; 4] = [
    RandomTransfers { name: "ior-rnd4K-write", transfer: 4096, activity: plan::Phase::Write },
    RandomTransfers { name: "ior-rnd4K-read", transfer: 4096, activity: plan::Phase::Read },
    RandomTransfers { name: "ior-rnd1MB-write", transfer: 1 << 20, activity: plan::Phase::Write },
    RandomTransfers { name: "ior-rnd1MB-read", transfer: 1 << 20, activity: plan::Phase::Read },
];

impl Named {
    fn of(name: &str) -> Option<Self> {
        let random = RANDOM.iter().find(|one| one.name == name).map(Self::Random);
        random.or_else(|| Phase::named(name).map(Self::Today))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Today(phase) => phase.name(),
            Self::Random(one) => one.name,
        }
    }

    const fn directory(self) -> &'static str {
        match self {
            Self::Today(phase) => phase.directory(),
            Self::Random(_) => "ior-rnd",
        }
    }

    const fn activity(self) -> plan::Phase {
        match self {
            Self::Today(phase) => phase.activity(),
            Self::Random(one) => one.activity,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Today(phase) if phase.unit() != "GiB/s" => "1000/s",
            _ => "GiB/s",
        }
    }

    /// The label of its result, and the statistic, which names the score that it is a part of.
    fn label(self) -> (&'static str, &'static str) {
        match self {
            Self::Today(phase) if phase.group() == Group::None => ("result", ""),
            Self::Today(phase) if !phase.is_extended() => (RESULT, ""),
            _ => (RESULT, EXTENDED),
        }
    }
}

/// What a text contains about a phase.
struct PrintedPhase<'a> {
    phase: Named,
    line: Line<'a>,
    /// The result in the unit of the phase.
    score: Option<f64>,
    written: &'a str,
    seconds: Option<f64>,
    /// The printed start, end and duration.
    times: Vec<Printed>,
    command: Option<&'a str>,
    started: Option<i64>,
    /// Why the benchmark considers it invalid.
    invalid: Vec<(Line<'a>, &'a str)>,
}

impl<'a> PrintedPhase<'a> {
    const fn new(phase: Named, line: Line<'a>) -> Self {
        Self {
            phase,
            line,
            score: None,
            written: "",
            seconds: None,
            times: Vec::new(),
            command: None,
            started: None,
            invalid: Vec::new(),
        }
    }

    fn spec(&self, tasks: Option<u32>) -> WorkloadSpec {
        let transfer = self.transfer();
        let target = self.command.and_then(|line| match self.phase.directory() {
            "ior-easy" | "ior-hard" | "ior-rnd" => command::value(line, "-o"),
            "mdtest-easy" | "mdtest-hard" => command::value(line, "-d"),
            _ => None,
        });
        let target = target.unwrap_or_else(|| "unknown".to_owned());
        let mut spec = WorkloadSpec::new(self.phase.name(), target, geometry(transfer));
        spec.tasks = tasks.unwrap_or(1);
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
            Named::Today(Phase::Find | Phase::FindEasy | Phase::FindHard) => {
                Find { matching: "*01*".to_owned(), ..Find::default() }.into()
            }
            _ => match self.phase.directory() {
                "mdtest-easy" => Tree { own_trees: true, shift: 1, ..Tree::flat(1) }.into(),
                "mdtest-hard" => Tree { shift: 1, ..hard() }.into(),
                "mdworkbench" => Objects { sets: 10, precreated: 1, steps: 1, ..Objects::default() }.into(),
                _ => Work::default(),
            },
        };
        spec
    }

    fn known(&self, has_tasks: bool) -> [(Condition, bool); 6] {
        let has = |name: &str| self.command.is_some_and(|line| command::value(line, name).is_some());
        let is_easy = self.phase.directory() == "ior-easy";
        [
            // The rules of the benchmark fix it for all other phases.
            (
                Condition::Transfer,
                !is_easy || self.phase == Named::Today(Phase::IorRnd4kEasyRead) || has("-t"),
            ),
            (Condition::Order, self.transfer().is_some()),
            (Condition::Path, has("-o") || has("-d")),
            (Condition::Sharing, !is_easy || self.command.is_some()),
            (Condition::Sync, self.transfer().is_some()),
            (Condition::Tasks, has_tasks),
        ]
    }

    /// Bytes of a transfer, if it is a phase of transfers.
    fn transfer(&self) -> Option<u64> {
        match self.phase {
            Named::Random(one) => Some(one.transfer),
            Named::Today(Phase::IorHardWrite | Phase::IorHardRead) => Some(HARD_TRANSFER),
            Named::Today(Phase::IorRnd4kEasyRead) => Some(4096),
            Named::Today(Phase::IorEasyWrite | Phase::IorEasyRead) => {
                let written = self.command.and_then(|line| command::value(line, "-t"));
                let bytes = written.as_deref().and_then(|text| units::size(text, false));
                Some(bytes.map_or(2 << 20, whole))
            }
            Named::Today(_) => None,
        }
    }

    /// The test of the phase, or `None` if it has no result.
    fn test(self, tasks: Option<u32>) -> Option<Test> {
        let score = self.score.filter(|score| *score > 0.0)?;
        let stated = match tasks {
            None => self.phase.name().to_owned(),
            Some(1) => format!("{}, 1 task", self.phase.name()),
            Some(tasks) => format!("{}, {tasks} tasks", self.phase.name()),
        };
        let known = self.known(tasks.is_some());
        let mut test = Test::new(self.phase.name(), self.spec(tasks), &stated).knowing(&known);
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
                    Named::Today(Phase::MdtestHardWrite | Phase::MdtestHardRead) => {
                        items.saturating_mul(HARD_FILE)
                    }
                    _ => 0,
                };
                pass.moved(items, bytes);
            }
        }
        pass.note("amounts follow from the printed result and the time of the whole phase, which is longer");
        let (label, counts_for) = self.phase.label();
        pass.printed.push(Printed::new(self.line, label, self.written, self.phase.unit(), counts_for));
        pass.printed.extend(self.times);
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

/// The lines without a last one whose end is not in the text: its value may be cut off, as some have any number of
/// digits.
fn whole_lines<'a>(block: &Block<'a>) -> impl Iterator<Item = &'a Line<'a>> {
    block.lines.iter().filter(|line| line.has_end)
}

/// Creates the draft. The scores of all phases are added to the last one.
fn draft(
    block: &Block<'_>,
    found: Vec<PrintedPhase<'_>>,
    tasks: Option<u32>,
    scores: Vec<Printed>,
) -> Result<Draft, ImportError> {
    let mut tests: Vec<Test> = found.into_iter().filter_map(|one| one.test(tasks)).collect();
    let Some(last) = tests.last_mut().and_then(|test| test.passes.last_mut()) else {
        return Err(block
            .ended("the result of a phase, such as `score = 1.5` or `[RESULT] ior-easy-write 1.5 GiB/s`"));
    };
    last.printed.extend(scores);
    let mut draft = Draft { tool: TOOL, tests, ..Draft::default() };
    if let Some(line) = block.lines.iter().find(|line| !line.has_end && !line.text.trim().is_empty()) {
        draft.doubts.push(format!("line {} has no end and may be cut off: it is not used", line.number));
    }
    Ok(draft)
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
    let (mut section, mut tasks, mut version, mut scores) = ("", None, None, Vec::new());
    let (mut started, mut finished) = (None, None);
    for line in whole_lines(block) {
        let text = line.text.trim();
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            if let Some(phase) = Named::of(name) {
                found.push(PrintedPhase::new(phase, *line));
            }
            continue;
        }
        let is_phase = Named::of(section).is_some();
        if let (Some(problem), true) = (text.strip_prefix("; ERROR INVALID "), is_phase) {
            if let Some(one) = found.last_mut() {
                one.invalid.push((*line, problem));
            }
            continue;
        }
        match text.strip_prefix("; START ").map(times::moment).zip(Some(&mut started)) {
            Some((moment, known)) => *known = known.or(moment),
            None => finished = text.strip_prefix("; END ").and_then(times::moment).or(finished),
        }
        let Some((key, value)) = text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            continue;
        };
        match (section, key) {
            ("run", "procs") => {
                tasks = Some(narrow(block.count(*line, value, "a number of processes")?).max(1));
            }
            ("run" | "", "version") => version = Some(value.to_owned()),
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
            "t_delta" => {
                one.seconds = Some(block.number(*line, value, "a time in s")?);
                one.times.push(Printed::new(*line, key, value, "s", ""));
            }
            "t_start" | "t_end" => {
                let moment = times::moment(value);
                one.started = one.started.or(moment);
                let printed = Printed::new(*line, key, value, "s since 1970", "");
                one.times.push(Printed { number: moment.map(|unix_ns| unix_ns as f64 / 1e9), ..printed });
            }
            "exe" => one.command = Some(value),
            _ => {}
        }
    }
    let version = version.filter(|version| !version.is_empty());
    started = started.or_else(|| found.iter().find_map(|one| one.started));
    Ok(Draft { version, started, finished, ..draft(block, found, tasks, scores)? })
}

/// A line of a summary.
struct SummaryLine<'a> {
    phase: Named,
    result: &'a str,
    seconds: &'a str,
    is_invalid: bool,
}

/// Reads `[RESULT] ior-easy-write 1.5 GiB/s : time 310.0 seconds`, and the form of releases up to 2020,
/// `[RESULT] BW phase 1 ior_easy_write 1.5 GB/s : time 310.0 seconds`.
fn summary_line(line: &str) -> Option<SummaryLine<'_>> {
    let (mark, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
    let is_result =
        matches!(mark, "RESULT" | "RESULT-invalid") || (mark.len() == 6 && mark.trim().is_empty());
    let (head, tail) = rest.split_once(": time ").filter(|_| is_result)?;
    let mut words = head.split_whitespace().peekable();
    if words.next_if(|word| matches!(*word, "BW" | "IOPS")).is_some() {
        words.next().filter(|word| *word == "phase")?;
        words.next()?;
    }
    let phase = Named::of(&words.next()?.replace('_', "-"))?;
    let (result, seconds) = (words.next()?, tail.split_whitespace().next()?);
    Some(SummaryLine { phase, result, seconds, is_invalid: line.to_lowercase().contains("invalid") })
}

/// The scores of `[SCORE ] Bandwidth 1.5 GiB/s : IOPS 20.5 kiops : TOTAL 5.5`. In releases up to 2020, the unit may be
/// `GB/s` and the mark of an invalid run is `[SCORE-invalid]`.
fn summary_scores(line: Line<'_>) -> Option<[Printed; 3]> {
    let (mark, rest) = line.text.trim().strip_prefix('[')?.split_once(']')?;
    let (section, is_invalid) = match mark.strip_suffix("-invalid") {
        Some(section) => (section_of_scores(section)?, true),
        None => (section_of_scores(mark)?, false),
    };
    let (bandwidth, rest) = rest.trim().strip_prefix("Bandwidth ")?.split_once(" : IOPS ")?;
    let (metadata, total) = rest.split_once(" kiops : TOTAL ")?;
    let bandwidth = bandwidth.strip_suffix("GiB/s").or_else(|| bandwidth.strip_suffix("GB/s"))?.trim();
    let total = if is_invalid { format!("{total} [INVALID]") } else { total.to_owned() };
    let of = |statistic, value| score(line, section, statistic, value);
    Some([of(BANDWIDTH, bandwidth), of(METADATA, metadata), of(TOTAL, &total)])
}

fn summary(block: &Block<'_>) -> Result<Draft, ImportError> {
    let (mut found, mut scores, mut version) = (Vec::<PrintedPhase<'_>>::new(), Vec::new(), None);
    for line in whole_lines(block) {
        let text = line.text.trim();
        if let Some(rest) = text.strip_prefix("IO500 version ") {
            let name = rest.split_whitespace().next().filter(|name| !name.starts_with('('));
            version = name.map(str::to_owned);
        }
        scores.extend(summary_scores(*line).into_iter().flatten());
        let Some(printed) = summary_line(text) else { continue };
        // The scripts print each result when its phase ends, and all of them at the end.
        let is_again = |one: &PrintedPhase<'_>| one.phase == printed.phase && one.written == printed.result;
        if found.iter().any(is_again) {
            continue;
        }
        let mut one = PrintedPhase::new(printed.phase, *line);
        (one.score, one.written) = (Some(block.number(*line, printed.result, "a result")?), printed.result);
        one.seconds = Some(block.number(*line, printed.seconds, "a time in s")?);
        one.times.push(Printed::new(*line, "t_delta", printed.seconds, "s", ""));
        if printed.is_invalid {
            one.invalid.push((*line, ""));
        }
        found.push(one);
    }
    let mut draft = draft(block, found, None, scores)?;
    draft.doubts.push("a summary does not state the number of processes".to_owned());
    Ok(Draft { version, ..draft })
}
