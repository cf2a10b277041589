//! A run compared with itself: the false alarms of the test of differences and of common manual methods.

use analysis::comparisons::{AgainstItself, Division, FalseAlarms};
use analysis::gate::Gate;
use analysis::statistics::{CONFIDENCE, DIFFERENCE_LEVEL, Rule};
use plan::PlanSource;
use record::{Provenance, Run};
use serde_json::{Value, json};

use crate::format::screen::Screen;
use crate::format::table::Table;
use crate::format::{counted, escape, percent, shell_line};
use crate::render::{markdown, text};
use crate::report::SHOWN_RATE;
use crate::section::{Block, Section};

/// The version of the JSON form.
const SCHEMA: &str = "ioproof-against-itself/1";

/// The comparisons of a run with itself.
#[derive(Debug)]
pub struct Itself<'a> {
    run: &'a Run,
    found: AgainstItself,
}

/// Compares each figure of `run` with itself `times` times: [`analysis::comparisons::against_itself`].
///
/// # Errors
/// Errors if it is an imported run, whose repetitions were not measured here, or if no figure has enough repetitions.
/// The message says what to do instead.
pub fn against_itself(run: &Run, times: usize) -> Result<Itself<'_>, String> {
    let directory = run.directory.display();
    if run.manifest.provenance == Provenance::Imported {
        return Err(format!(
            "the run {directory} is imported: the output of another tool does not show in which order it \
             measured; measure the study with ioproof run"
        ));
    }
    let figures = analysis::figures::figures(run, SHOWN_RATE);
    let doubts = analysis::findings::findings(run, &figures).audit;
    let gate = Gate::new(&run.manifest.plan, &figures, &doubts);
    let found = analysis::comparisons::against_itself(&gate, times).map_err(|few| match few.has {
        0 => format!(
            "no figure of {directory} can be compared: the audit disqualifies all of them; `ioproof check` \
             says why"
        ),
        _ => format!(
            "no figure of {directory} that the audit accepts has {} repetitions, which {} with {} on each \
             side need (the most are {}): {}",
            few.needed,
            counted(times as u64, "comparison"),
            Rule::LEAST,
            few.has,
            advice(run, few.has, few.needed)
        ),
    })?;
    Ok(Itself { run, found })
}

/// How to get enough repetitions.
fn advice(run: &Run, has: usize, needed: usize) -> String {
    let fewer = match has / (2 * Rule::LEAST) {
        0 => String::new(),
        fewer => format!("ask for at most {fewer}, or "),
    };
    let words = |words: &[&str]| shell_line(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    let command = match &run.manifest.plan.source {
        PlanSource::Study { path, .. } => {
            let all = format!("workload.*.repetitions={needed}");
            format!(" with {}", words(&["ioproof", "run", &path.to_string_lossy(), "--set", &all]))
        }
        PlanSource::Quick { .. } => {
            let all = format!("repetitions={needed}");
            let directories = run.manifest.plan.source.quick_directories().into_iter();
            let directories: Vec<_> = directories.map(|one| one.to_string_lossy()).collect();
            let mut command = vec!["ioproof", "run", "--quick"];
            command.extend(directories.iter().map(|one| &**one));
            command.extend(["--set", &all]);
            format!(" with {}", words(&command))
        }
        _ => String::new(),
    };
    format!("{fewer}measure {needed}{command}")
}

impl Itself<'_> {
    /// For a terminal.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let section = self.section();
        let mut out = format!("{}\n", screen.strong(section.title));
        text::blocks_text(&mut out, &section.blocks, screen);
        out
    }

    /// As Markdown, with a pipe table.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        markdown::section_markdown(&mut out, &self.section());
        out
    }

    /// As JSON in the schema `ioproof-against-itself/1`.
    #[must_use]
    pub fn json(&self) -> String {
        let found = &self.found;
        let row = |one: &FalseAlarms| -> Value {
            json!({
                "rule": one.rule.name(),
                "division": division(one.division),
                "alarms": one.alarms,
                "share": self.share(one),
                "share_low": one.interval.0,
                "share_high": one.interval.1,
            })
        };
        escape::json_text(&json!({
            "schema": SCHEMA,
            "id": self.run.manifest.run_id,
            "title": self.run.manifest.plan.title,
            "figures": found.figures,
            "figures_left_out": found.left_out,
            "comparisons": found.comparisons,
            "repetitions_least": found.repetitions.0,
            "repetitions_most": found.repetitions.1,
            "level": DIFFERENCE_LEVEL,
            "alarms": found.alarms.iter().map(row).collect::<Vec<_>>(),
        }))
    }

    fn share(&self, one: &FalseAlarms) -> f64 {
        one.alarms as f64 / self.found.comparisons as f64
    }

    fn section(&self) -> Section {
        let table = Block::Table {
            caption: format!(
                "Differences that were reported where there is none; in brackets the interval of their \
                 probability, with {} confidence",
                percent(CONFIDENCE)
            ),
            table: self.table(),
        };
        let blocks = vec![Block::Text(self.what()), table, Block::Text(self.judgement())];
        Section { id: "against-itself", title: "A run compared with itself", before_figures: true, blocks }
    }

    fn what(&self) -> String {
        let AgainstItself { figures, left_out, comparisons, repetitions: (least, most), .. } = self.found;
        let each = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let out = match left_out {
            0 => String::new(),
            some => format!(
                " Left out: {} with too few repetitions or disqualified by the audit.",
                counted(some as u64, "figure")
            ),
        };
        format!(
            "{} ({}): {} of {} with itself, {each} repetitions on each side.{out}",
            self.run.manifest.plan.title,
            self.run.manifest.run_id,
            counted(comparisons as u64, "comparison"),
            counted(figures as u64, "figure"),
        )
    }

    fn table(&self) -> Table {
        let of = |rule: Rule, division: Division| {
            let one = self.found.alarms.iter().find(|one| one.rule == rule && one.division == division);
            one.map(|one| {
                let (low, high) = one.interval;
                format!(
                    "{} = {} ({} … {})",
                    one.alarms,
                    percent(self.share(one)),
                    percent(low),
                    percent(high)
                )
            })
        };
        let mut table = Table::of(Rule::ALL).left("rule", |rule| rule.name());
        for by in Division::ALL {
            table = table.right(division(by), move |rule| of(*rule, by));
        }
        table
            .right("expected", |rule| (*rule == Rule::Test).then(|| self.expected()))
            .done()
            .without_empty_columns()
    }

    fn expected(&self) -> String {
        let count = DIFFERENCE_LEVEL * self.found.comparisons as f64;
        format!("at most {} = {}", crate::format::number(count), percent(DIFFERENCE_LEVEL))
    }

    /// The conclusion about the test of differences on this system.
    fn judgement(&self) -> String {
        let exceeds = |by: Division| {
            let mut of_test =
                self.found.alarms.iter().filter(|one| one.rule == Rule::Test && one.division == by);
            of_test.any(|one| one.interval.0 > DIFFERENCE_LEVEL)
        };
        let level = percent(DIFFERENCE_LEVEL);
        match (exceeds(Division::InTurn), exceeds(Division::OneAfterOther)) {
            (true, _) => format!(
                "The test of differences errs here more often than the {level} that it states, even in turns: repetitions \
                 depend on each other. Make phases longer, and trust no difference that is not far beyond the scatter."
            ),
            (false, true) => format!(
                "In turns the test of differences keeps to the {level} that it states; one after the other it does not: this \
                 storage drifts. Compare by an interleaved study (protocol.interleaved), not by two runs."
            ),
            (false, false) => {
                format!(
                    "Nothing here shows that the test of differences errs more often than the {level} that \
                     it states."
                )
            }
        }
    }
}

const fn division(of: Division) -> &'static str {
    match of {
        Division::InTurn => "in turns (A B B A)",
        Division::OneAfterOther => "one after the other",
    }
}
