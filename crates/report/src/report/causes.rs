//! Causes of doubt, from the audit and from warnings of the record; each cause once, with all of its figures.

use std::collections::{BTreeSet, HashMap};

use analysis::audit::{AuditIssue, Check};

use crate::format::{counted, grouped, mark};
use crate::report::notes::Note;

/// The kind of note about the place of the record, which was said before the run and is no doubt about a figure.
const RECORD_ON_TARGET: &str = "record-on-target";
/// Maximum number of figures listed per cause; JSON and CSV have all.
const NAMED: usize = 8;

/// A reason to doubt figures, or an observation that explains them.
#[derive(Debug, Clone)]
pub(crate) struct Cause {
    /// The letter that marks its figures; empty for an observation, and if it concerns no figure.
    pub(crate) mark: String,
    /// Whether it casts doubt on something, and does not only explain figures.
    is_doubt: bool,
    /// The check of the audit, or the kind of warning.
    pub(crate) name: String,
    /// Whether its figures cannot meet a commitment.
    pub(crate) disqualifies: bool,
    /// The numbers of its figures.
    pub(crate) figures: Vec<usize>,
    /// Other subjects, such as phases without a figure.
    elsewhere: Vec<String>,
    /// The evidence for the most affected figure.
    pub(crate) evidence: String,
    /// The number of the most affected figure.
    worst: Option<usize>,
    pub(crate) advice: String,
}

impl Cause {
    /// What it concerns: `12 figures: #1, #2, … and 4 more`.
    pub(crate) fn places(&self) -> String {
        let all =
            self.figures.iter().map(|number| format!("#{number}")).chain(self.elsewhere.iter().cloned());
        let named: Vec<String> = all.take(NAMED).collect();
        let count = self.figures.len() + self.elsewhere.len();
        let noun = if self.elsewhere.is_empty() { "figure" } else { "place" };
        let (counted, names) = (counted(count as u64, noun), named.join(", "));
        match count.saturating_sub(NAMED) {
            0 if count == 1 => names,
            0 => format!("{counted}: {names}"),
            more => format!("{counted}: {names} and {} more", grouped(more as u64)),
        }
    }

    /// The evidence, preceded by the number of its figure if there are several.
    pub(crate) fn shown(&self) -> String {
        match self.worst {
            Some(worst) if self.figures.len() > 1 => format!("#{worst}: {}", self.evidence),
            _ => self.evidence.clone(),
        }
    }

    /// Whether it only explains figures and casts no doubt on them.
    pub(crate) fn is_observation(&self) -> bool {
        !self.is_doubt
    }

    /// `not quiet, 3 of 16 figures`.
    pub(crate) fn named(&self, all: usize) -> String {
        let of = match self.figures.len() {
            0 => String::new(),
            1 => format!(", #{}", self.figures[0]),
            2 if all == 2 => ", both figures".to_owned(),
            count if count == all => format!(", all {} figures", grouped(all as u64)),
            count => format!(", {} of {} figures", grouped(count as u64), grouped(all as u64)),
        };
        format!("{}{of}", self.name)
    }

    /// `not quiet, 3 of 16 figures: #4: others used 85 % of the processors; repeat the run on a quiet host`.
    pub(crate) fn sentence(&self, all: usize) -> String {
        format!("{}: {}; {}", self.named(all), self.shown(), self.advice)
    }
}

/// The causes of doubt in a report with these `issues` and `notes`: wrong data first, then those of the audit, then those
/// of the record only, observations last. What the record and the audit say of the same fact is one cause.
pub(crate) fn causes(issues: &[AuditIssue], notes: &[Note]) -> Vec<Cause> {
    let mut causes = of_audit(issues);
    for note in notes.iter().filter(|note| note.kind != RECORD_ON_TARGET).map(of_note) {
        let is_same = |one: &&mut Cause| {
            let has_mark = !note.mark.is_empty() && one.mark == note.mark;
            note.figures.is_empty() && (has_mark || one.name == note.name)
        };
        match causes.iter_mut().find(is_same) {
            Some(same) => same.elsewhere.extend(note.elsewhere),
            None => causes.push(note),
        }
    }
    // Wrong data in phases without a figure is known from warnings only.
    causes.sort_by_key(|one| (one.is_observation(), one.name != Check::WrongData.name()));
    causes
}

/// Causes of the audit: disqualifying ones first, observations last.
pub(crate) fn of_audit(issues: &[AuditIssue]) -> Vec<Cause> {
    let mut checks = analysis::figures::grouped(issues, |one| one.check);
    checks.sort_by_key(|doubts| (!doubts[0].check.is_doubt(), !doubts[0].disqualifies()));
    let mut lettered = 0;
    let mut marked = |doubts: &Vec<&AuditIssue>| {
        let is_lettered = doubts[0].check.is_doubt() && doubts.iter().any(|one| one.figure.is_some());
        let letter = if is_lettered { mark(lettered) } else { String::new() };
        lettered += usize::from(is_lettered);
        of_check(letter, doubts)
    };
    checks.iter().map(&mut marked).collect()
}

fn of_note(note: &Note) -> Cause {
    let figures: BTreeSet<usize> = note.entries.iter().flat_map(|entry| entry.figures.clone()).collect();
    let places = note.entries.iter().filter(|entry| entry.figures.is_empty());
    let name = note.kind.replace('-', " ");
    let first = note.entries.first().map(|entry| entry.text.as_str()).unwrap_or_default();
    Cause {
        mark: note.mark.clone(),
        is_doubt: true,
        disqualifies: false,
        worst: figures.first().copied(),
        figures: figures.into_iter().collect(),
        elsewhere: places.map(|entry| entry.concerns.clone()).collect(),
        evidence: first.strip_prefix(&format!("{name}: ")).unwrap_or(first).to_owned(),
        advice: note.advice.clone(),
        name,
    }
}

fn of_check(mark: String, doubts: &[&AuditIssue]) -> Cause {
    // The first of equally severe ones.
    let worst = doubts[1..].iter().fold(doubts[0], |worst, one| match one.severity > worst.severity {
        true => one,
        false => worst,
    });
    let mut figures: Vec<usize> = doubts.iter().filter_map(|one| one.figure).map(|place| place + 1).collect();
    figures.dedup();
    let elsewhere = doubts.iter().filter(|one| one.figure.is_none()).map(|one| one.concerns.clone());
    Cause {
        mark,
        is_doubt: worst.check.is_doubt(),
        name: worst.check.name().to_owned(),
        disqualifies: worst.disqualifies(),
        figures,
        elsewhere: elsewhere.collect(),
        evidence: worst.evidence.clone(),
        worst: worst.figure.map(|place| place + 1),
        advice: worst.advice.clone(),
    }
}

/// The marks of the causes that concern each figure, by its number.
pub(crate) fn marks(causes: &[Cause]) -> HashMap<usize, String> {
    let mut marks: HashMap<usize, Vec<&str>> = HashMap::new();
    for cause in causes.iter().filter(|cause| !cause.mark.is_empty()) {
        for &number in &cause.figures {
            marks.entry(number).or_default().push(&cause.mark);
        }
    }
    marks.into_iter().map(|(number, marks)| (number, marks.join(" "))).collect()
}
