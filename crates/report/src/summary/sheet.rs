//! One printable sheet per commitment: the terms fixed before the run, the measurements, doubts, what could not
//! be checked, and the verdict. It contains everything that a party needs to contest the verdict.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use analysis::{
    audit::{AuditIssue, Check, Outcome, Use},
    comparisons::{Verdict, selected, side},
    figures::Figure,
    gate::Judgement,
    statistics::{CONFIDENCE, bound_least, median_bounds},
};
use plan::{
    Bound, Case, Client, Commitment, Layer, Nanos, Over, Plan, PlanSource, Statistic, Stopping,
    TargetDescription,
};
use record::{Fact, Part, Provenance, Run, Warning};

use crate::format::table::{Cell, Table};
use crate::format::{counted, number, percent, sentence, shell_line};
use crate::preflight::{promised, protocol};
use crate::report::Report;
use crate::report::origin;
use crate::section::{Block, Section, conditions, promised_unit, promised_value};

/// Maximum number of cases and protocols of a commitment that are listed.
const NAMED: usize = 12;

/// Maximum number of figures of a commitment that are shown, and of lines of a list.
const SHOWN: usize = 24;

/// A sheet for each commitment of `run`; none if there are no commitments.
pub(crate) fn section(run: &Run, report: &Report) -> Option<Section> {
    let verdicts: Vec<&Verdict> =
        report.found.verdicts.iter().filter_map(analysis::gate::Stated::says).collect();
    if verdicts.is_empty() {
        return None;
    }
    let mut blocks = vec![heading("Who, where and when"), Block::List(circumstances(run, report))];
    for &verdict in &verdicts {
        blocks.extend(Sheet { run, report, verdict }.blocks(verdicts.len()));
    }
    Some(Section { id: "sheets", title: "Verdict sheets", before_figures: false, blocks })
}

struct Sheet<'a> {
    run: &'a Run,
    report: &'a Report,
    verdict: &'a Verdict,
}

fn heading(text: impl Into<String>) -> Block {
    Block::Heading { place: String::new(), text: text.into() }
}

impl Sheet<'_> {
    fn blocks(&self, of: usize) -> Vec<Block> {
        let verdict = self.verdict;
        let word = verdict.word();
        let (number, name) = (verdict.place + 1, &verdict.commitment.name);
        let mut blocks = vec![
            heading(format!("{number} of {of} · {name} · {word}")),
            Block::Text(self.why()),
            heading("What was fixed before the run"),
            Block::List(self.criterion()),
            heading("Evidence"),
        ];
        let table = self.evidence();
        let caption = match verdict.about.len().saturating_sub(SHOWN) {
            0 => "Each figure that the commitment covers, with the value of every repetition".to_owned(),
            more => format!("The value of every repetition; {more} more figures are in the report"),
        };
        blocks.push(match table.is_empty() {
            true => Block::Text("Nothing that the commitment covers was measured.".to_owned()),
            false => Block::Table { caption, table: table.without_empty_columns() },
        });
        let (no_doubt, all_seen) =
            ("The audit found nothing.", "Everything that the program looks for could be seen.");
        for (title, mut lines, none) in [
            ("What speaks against these figures", self.doubts(), no_doubt),
            ("What could not be seen", self.unseen(), all_seen),
        ] {
            blocks.push(heading(title));
            let more = lines.len().saturating_sub(SHOWN);
            lines.truncate(SHOWN);
            lines.extend((more > 0).then(|| format!("{more} more of this kind are in the report")));
            blocks.push(if lines.is_empty() { Block::Text(none.to_owned()) } else { Block::List(lines) });
        }
        blocks
    }

    fn plan(&self) -> &Plan {
        &self.run.manifest.plan
    }

    fn figures(&self) -> impl Iterator<Item = (usize, &Figure)> {
        self.verdict.about.iter().filter_map(|&place| Some((place, &self.report.figures.get(place)?.source)))
    }

    fn cases(&self) -> Vec<&Case> {
        let selector = &self.verdict.commitment.figures;
        let takes =
            |case: &&Case| case.phases.iter().any(|&phase| phase.is_result() && selector.takes(case, phase));
        self.plan().cases.iter().filter(takes).collect()
    }

    fn value(&self, value: f64) -> String {
        promised_value(self.report, self.verdict, value)
    }

    /// The verdict in a sentence.
    fn why(&self) -> String {
        let verdict = self.verdict;
        let mut text = match (verdict.judgement, verdict.simulated) {
            (Judgement::Holds, false) => "It was kept",
            (Judgement::DoesNotHold, false) => "It was not kept",
            (Judgement::CannotTell, false) => {
                "It cannot be told whether it was kept, and so it does not pass"
            }
            (Judgement::NotTested, false) => "It was not tested, and so it does not pass",
            (Judgement::Holds, true) => {
                "It would be kept in this model. That is no evidence that it is kept: nothing was measured"
            }
            (Judgement::DoesNotHold, true) => "It would not be kept in this model. Nothing was measured",
            (Judgement::CannotTell, true) => "It cannot be told whether it would be kept in this model",
            (Judgement::NotTested, true) => "It was not tested in this model",
        }
        .to_owned();
        if let (Some(figure), Some(measured)) = (verdict.figure, verdict.measured) {
            let part = part_of(verdict.share().unwrap_or_default());
            let (number, measured) = (figure + 1, self.value(measured));
            text.push_str(&format!(". Figure {number} decides: {measured}, {part} what was promised"));
        }
        if let (Some((end_side, end)), Some((_, confidence))) = (verdict.decisive_bound(), verdict.bound) {
            let (end_side, end, confidence) = (side(end_side), self.value(end), percent(confidence));
            text.push_str(&format!("; its median is {end_side} {end} with a confidence of {confidence}"));
        }
        text.extend(verdict.because.iter().map(|reason| format!("; {reason}")));
        text + "."
    }

    /// The commitment, its figures, how it is judged, and where it is written down.
    fn criterion(&self) -> Vec<String> {
        let commitment = &self.verdict.commitment;
        let cases = self.cases();
        let named: Vec<&str> = cases.iter().take(NAMED).map(|case| case.id.as_str()).collect();
        let more = match cases.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (of, by) = (selected(&commitment.figures, commitment.over), &self.verdict.judged_by);
        let mut lines = vec![
            promised(commitment, self.verdict.asked(), promised_unit(self.report, self.verdict)),
            format!("of {of}; judged by {by}"),
            format!("{}: {}{more}", counted(cases.len() as u64, "case"), named.join(", ")),
        ];
        lines.extend(self.verdict.reference.clone());
        lines.push(nodes(commitment, &cases));
        let mut protocols: Vec<String> = cases.iter().map(|case| protocol(case)).collect();
        protocols.dedup();
        lines.extend(protocols.into_iter().take(NAMED));
        let several = cases.iter().map(|case| {
            self.run.parts.iter().filter(|part| part.cases.iter().any(|id| **id == *case.id)).count()
        });
        if let Some(runs) = several.max().filter(|&runs| runs > 1) {
            lines.push(format!(
                "the repetitions are those of {runs} runs together; each run fixed its own share"
            ));
        }
        let among = if commitment.over == Over::Best { cases.len().max(1) } else { 1 };
        let overrides = &self.verdict.overrides;
        lines.extend(
            (!overrides.is_empty())
                .then(|| format!("not as in the study file: --set {}", overrides.join(", --set "))),
        );
        if among > 1 || commitment.statistic == Statistic::ConfidenceBound {
            let needed = bound_least((1.0 - CONFIDENCE) / among as f64);
            lines.push(format!("{} are needed for the bound", counted(needed as u64, "repetition")));
        }
        lines
    }

    fn evidence(&self) -> Table {
        let mut figures: Vec<(usize, &Figure)> = self.figures().collect();
        figures.sort_by_key(|(place, _)| self.verdict.figure != Some(*place));
        let values = |figure: &Figure, counts: bool| -> Vec<f64> {
            let passes = figure.repetitions.iter().filter(|one| one.counts == counts);
            passes.filter_map(|one| self.verdict.value(one)).collect()
        };
        let shown = |all: Vec<f64>| all.iter().map(|&one| self.value(one)).collect::<Vec<_>>().join(", ");
        let at_worst = |figure: &Figure| {
            let bounds = median_bounds(&values(figure, true), 1.0 - CONFIDENCE)?;
            let end = match self.verdict.commitment.bound {
                Bound::AtLeast => bounds.low,
                Bound::AtMost => bounds.high,
            };
            Some(format!("{} ({})", self.value(end), percent(bounds.confidence)))
        };
        Table::of(figures.into_iter().take(SHOWN))
            .right("#", |(place, _)| Cell::figure(Some(place + 1)))
            .right("median", |(_, one)| {
                analysis::statistics::Summary::of(&values(one, true)).map(|all| self.value(all.median))
            })
            .right("at worst", |(_, one)| at_worst(one))
            .left("repetitions", |(_, one)| shown(values(one, true)))
            .left("do not count", |(_, one)| shown(values(one, false)))
            .left("decides", |(place, _)| if self.verdict.figure == Some(*place) { "yes" } else { "" })
            .left("conditions", |(place, _)| {
                self.report.figures.get(*place).map(|own| conditions(self.report, own))
            })
            .done()
            .below("conditions")
    }

    fn doubts(&self) -> Vec<String> {
        // A doubt about published figures says nothing about what was promised.
        let about = |one: &&AuditIssue| match (one.figure, one.commitment) {
            (Some(place), _) => self.verdict.about.contains(&place),
            (None, Some(place)) => place == self.verdict.place,
            (None, None) => one.check != Check::BestAsTypical,
        };
        let line = |one: &AuditIssue| {
            let of = one.figure.map(|place| format!("figure {}: ", place + 1)).unwrap_or_default();
            let weighs = self.weighs(one);
            format!("{of}{}: {} ({weighs}). {}", one.check.name(), one.evidence, sentence(&one.advice))
        };
        let doubts = self.report.found.audit.iter().filter(about).map(line);
        doubts.chain(self.report.missing.iter().cloned()).collect()
    }

    /// How a doubt affected the verdict.
    fn weighs(&self, one: &AuditIssue) -> &'static str {
        let Some(outcome) = one.figure.and_then(|place| self.verdict.outcome(place, one.check)) else {
            return "for information";
        };
        let is_judged = matches!(self.verdict.judgement, Judgement::Holds | Judgement::DoesNotHold);
        let withholds = |statement| one.check.outcome(statement) == Outcome::Withheld;
        match (outcome, withholds(Use::PromiseKept), withholds(Use::PromiseBroken)) {
            (Outcome::Withheld, ..) => "with this doubt the figure cannot decide",
            (_, true, false) if is_judged => "it can only have made the figure faster, so the verdict stands",
            (_, false, true) if is_judged => {
                "it made the figure slower, but not by enough to change the verdict"
            }
            _ => "for information",
        }
    }

    /// What could not be checked, and why.
    fn unseen(&self) -> Vec<String> {
        if self.verdict.simulated {
            let model = self.run.manifest.model.as_ref().map_or("the model", |model| &model.name);
            return vec![format!("what {model} leaves out of the storage that it models")];
        }
        let mut lines = Vec::new();
        if self.run.manifest.provenance == Provenance::Imported {
            lines.push(
                "the figures were printed by another program: nothing besides them is known".to_owned(),
            );
        }
        let cases = self.cases();
        for (place, figure) in self.figures() {
            let number = place + 1;
            let moved = |one: &analysis::figures::RepetitionFigure| {
                one.device_share.read.is_some() || one.device_share.write.is_some()
            };
            if !figure.counted().any(moved) {
                lines.push(format!(
                    "figure {number}: no device counters, so it is unknown what answered instead of the \
                     devices"
                ));
            }
            if figure.counted().all(|one| one.phase.user_cpu_ns + one.phase.system_cpu_ns == 0) {
                lines.push(format!(
                    "figure {number}: no processor time, so it is unknown what its tasks waited for"
                ));
            }
            let case = cases.iter().find(|case| case.id == figure.case);
            let writes = case.filter(|_| figure.phase.is_transfers() && figure.phase.writes());
            lines.extend(writes.map(|case| unseen_of_writes(number, figure, case)));
            let is_known = figure.counted().all(|one| one.resident_share().is_some());
            let is_dropped = |case: &Case| case.protocol.drop_caches || case.protocol.evict_files;
            let is_open = |case: &&&Case| !figure.phase.writes() && !is_dropped(case) && !is_known;
            if let Some(case) = case.filter(is_open) {
                let of = if case.group.is_empty() { &case.id } else { &case.group };
                lines.push(format!("{of}: what caches held before it read, because they were not dropped"));
            }
        }
        for case in cases {
            let target = self.plan().criteria.targets.iter().find(|one| one.name == case.target);
            let is_declared = |one: &TargetDescription| {
                let is_near = one.client == Client::LocalToServer || one.layer == Layer::NodeLocal;
                is_near || one.server_memory.is_some() || one.caches.is_some()
            };
            let stated = target.and_then(|one| Some((&one.name, one.stated_memory()?)));
            if let Some((name, held)) = stated.filter(|_| self.figures().any(|(_, one)| !one.phase.writes()))
            {
                let held = held.both_units();
                lines.push(format!("{name}: what is behind its devices; the study states {held} of caches"));
            }
            if !target.is_some_and(is_declared) {
                let target = if case.target.is_empty() { "the target" } else { &case.target };
                lines.push(format!(
                    "{target}: the memory of its servers (`server_memory`) and its caches are not declared"
                ));
            }
        }
        if !self.run.pauses.is_empty() {
            lines.push(
                "how the case went that was under way when the run was interrupted: it was measured again \
                 from its first pass"
                    .to_owned(),
            );
        }
        let host = &self.run.manifest.host;
        let writes = self.figures().any(|(_, figure)| figure.phase.writes());
        for one in host.file_systems.iter().filter(|one| writes && one.size_bytes > 0) {
            let full = 1.0 - (one.free_bytes + one.reserved_bytes) as f64 / one.size_bytes as f64;
            lines.push(format!(
                "{}: how it performs when it is fuller than {}",
                one.mount_point,
                percent(full)
            ));
        }
        if let Fact::Unknown(why) = &host.network {
            lines.push(format!("links of the network: {why}"));
        }
        if let Fact::Unknown(why) = &host.volumes {
            lines.push(format!("what the volumes are made of: {why}"));
        }
        let mut said = HashSet::new();
        lines.retain(|line| said.insert(line.clone()));
        lines
    }
}

/// The run and the plan.
fn circumstances(run: &Run, report: &Report) -> Vec<String> {
    let manifest = &run.manifest;
    let nodes = origin::nodes_line(report).unwrap_or_else(|| manifest.host.node.clone());
    let (id, origin, version) = (&report.run.id, origin::origin(report), &report.run.program_version);
    let mut lines =
        vec![format!("run {id}, {origin} by ioproof {version}"), format!("on {nodes}"), origin::when(report)];
    if run.parts.is_empty() {
        lines.insert(1, format!("command line: {}", shell_line(&manifest.command_line)));
    }
    lines.extend(origin::model_line(report));
    let elsewhere = run.warnings.iter().filter(|row| matches!(row.warning, Warning::ResumedElsewhere { .. }));
    lines.extend(elsewhere.map(|row| row.warning.to_string()));
    lines.extend(manifest.host.batch_job.as_ref().map(|job| format!("batch job {job}")));
    // A model has no other users.
    let alone = match manifest.plan.criteria.exclusive {
        _ if origin::is_simulated(report) => None,
        Some(true) => Some("the study says that nobody else used the storage"),
        Some(false) => Some("others could use the storage at the same time"),
        None => Some("the study does not say whether others used the storage"),
    };
    lines.extend(alone.map(str::to_owned));
    if run.parts.is_empty() {
        lines.extend(source(run));
    } else {
        lines.extend(run.parts.iter().flat_map(of_part));
    }
    lines.push(format!(
        "plan that ran, as compact JSON of its record: SHA-256 {}",
        record::plan_sha256(&manifest.plan)
    ));
    if run.parts.iter().all(|part| part.directory.as_os_str().is_empty()) {
        lines.push(format!("record: {}", run.directory.display()));
    }
    lines
}

/// The study file of a run, and what was changed of it.
fn source(run: &Run) -> Vec<String> {
    let PlanSource::Study { path, text, overrides } = &run.manifest.plan.source else { return Vec::new() };
    study(path, &record::sha256(text.as_bytes()), overrides)
}

fn study(path: &Path, sha256: &str, overrides: &[String]) -> Vec<String> {
    let file = format!("study file {}, SHA-256 {sha256}", path.display());
    let changed = format!("overridden on the command line: {}", overrides.join(", "));
    std::iter::once(file).chain((!overrides.is_empty()).then_some(changed)).collect()
}

/// One of several runs that are judged together.
fn of_part(part: &Part) -> Vec<String> {
    let id = &part.run_id;
    let mut lines = vec![format!("command line: {}", shell_line(&part.command_line))];
    lines.extend(part.study.iter().flat_map(|one| study(&one.path, &one.sha256, &one.overrides)));
    if !part.plan_sha256.is_empty() {
        lines.push(format!("its plan: SHA-256 {}", part.plan_sha256));
    }
    if !part.directory.as_os_str().is_empty() {
        lines.push(format!("record: {}", part.directory.display()));
    }
    lines.into_iter().map(|line| format!("run {id}: {line}")).collect()
}

/// The nodes that a commitment is about, and those of its cases.
fn nodes(commitment: &Commitment, cases: &[&Case]) -> String {
    let listed = |nodes: &BTreeSet<u32>| nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let measured: Option<BTreeSet<u32>> = cases.iter().map(|case| case.nodes()).collect();
    let measured = measured.map_or("a number that is not printed".to_owned(), |nodes| listed(&nodes));
    let of = &commitment.terms.nodes;
    match of.as_slice() {
        _ if cases.is_empty() && of.is_empty() => "nodes: the study fixes no number".to_owned(),
        [] => format!("nodes: the study fixes no number; planned on {measured}"),
        _ if cases.is_empty() => format!("nodes: {}", listed(&of.iter().copied().collect())),
        _ => format!("nodes: {}; planned on {measured}", listed(&of.iter().copied().collect())),
    }
}

/// The measured share of the commitment, to precede these words: `0.7 % of`, `105 times`.
fn part_of(share: f64) -> String {
    if share < 10.0 { format!("{} of", percent(share)) } else { format!("{} times", number(share)) }
}

/// What remains unknown about writes: how full, preconditioned or throttled storage behaves.
fn unseen_of_writes(number: usize, figure: &Figure, case: &Case) -> String {
    let steady = matches!(case.protocol.stopping, Stopping::Steady { .. });
    let before = match (case.protocol.wipe, case.protocol.precondition) {
        _ if steady => "",
        (true, 0) => "how the drives perform when they are not wiped before; ",
        (_, 0) => "whether the drives were full or trimmed before; ",
        (_, 1..) => "",
    };
    let spent: u64 = figure.repetitions.iter().map(|one| one.phase.wall_ns).sum();
    format!(
        "figure {number}: {before}a burst allowance that lasts longer than its passes, {} together",
        Nanos(spent)
    )
}
