//! What the benchmark prints and stores about its phases: `result.txt`, `result_summary.txt`, the terminal
//! output, and the scores with their hashes.

use std::fmt::Write as _;

use super::hash::{Hash, decimals};
use super::lines::Setup;
use super::outcome::{Entry, Outcome};
use super::phases::{Group, Phase};
use crate::printed::local;

const MOMENT: &str = "%Y-%m-%d %H:%M:%S";

/// Text for each of the three outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// Text for `result.txt`.
    pub result: String,
    /// Text for `result_summary.txt`.
    pub summary: String,
    /// Text for the terminal.
    pub screen: String,
}

impl Text {
    fn pair(&mut self, key: &str, value: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.result, "{key:<15} = {value}");
    }

    fn invalid(&mut self, why: &str) {
        let _ = writeln!(self.result, "; ERROR INVALID {why}");
        let _ = writeln!(self.screen, "ERROR INVALID {why}");
    }

    fn warning(&mut self, about: &str) {
        let _ = writeln!(self.result, "; WARNING {about}");
        let _ = writeln!(self.screen, "WARNING {about}");
    }

    fn both(&mut self, line: &str) {
        let _ = writeln!(self.summary, "{line}");
        let _ = writeln!(self.screen, "{line}");
    }
}

/// The results of a run so far.
#[derive(Debug, Clone)]
pub struct Sheet {
    setup: Setup,
    version: String,
    is_extended: bool,
    is_dry: bool,
    scores: Vec<(Phase, f64)>,
    is_valid: bool,
    is_valid_extended: bool,
}

impl Sheet {
    /// Creates the sheet of a run by program `version`. If `is_dry` is set, it only shows the command
    /// lines of the phases.
    #[must_use]
    pub const fn new(setup: Setup, version: String, is_extended: bool, is_dry: bool) -> Self {
        Self {
            setup,
            version,
            is_extended,
            is_dry,
            scores: Vec::new(),
            is_valid: true,
            is_valid_extended: true,
        }
    }

    const fn mode(&self) -> &'static str {
        if self.is_extended { "extended" } else { "standard" }
    }

    fn moment(&self, key: &str, unix_ns: i64, text: &mut Text) {
        if self.setup.verbosity() > 0 {
            text.pair(key, &local(unix_ns, MOMENT));
        }
    }

    /// The header of all outputs. The run starts at `now_unix_ns`.
    pub fn begin(&mut self, now_unix_ns: i64) -> Text {
        let mut text = Text { result: "[run]\n".to_owned(), ..Text::default() };
        text.pair("procs", &self.setup.tasks.to_string());
        text.pair("version", &self.version);
        text.pair("config-hash", &self.setup.config.hash());
        text.pair("result-dir", &self.setup.resultdir);
        text.pair("mode", self.mode());
        if self.is_dry {
            text.invalid("DRY RUN MODE ACTIVATED");
            self.is_valid = false;
        }
        if self.setup.pause_directory().is_some() {
            text.invalid("PAUSING BETWEEN RUNS ACTIVATED");
            self.is_valid = false;
        }
        if self.setup.verbosity() > 0 {
            let _ = writeln!(text.result, "; START {}", local(now_unix_ns, MOMENT));
        }
        text.both(&format!("IO500 version {} ({})", self.version, self.mode()));
        let (asked, least) = (self.setup.stonewall(), self.setup.stonewall_of_rules());
        if asked != least {
            text.invalid(&format!("stonewall-time {asked}s != {least}s"));
        }
        if self.setup.files_per_directory().is_some() {
            text.invalid("files-per-dir is set");
        }
        text.result.push('\n');
        text
    }

    /// The beginning of the section of `phase`, with its command line.
    #[must_use]
    pub fn phase_begins(&self, phase: Phase, line: &[String], rate: f64, now_unix_ns: i64) -> Text {
        let mut text = Text { result: format!("\n[{}]\n", phase.name()), ..Text::default() };
        self.moment("t_start", now_unix_ns, &mut text);
        if phase.name().starts_with("mdworkbench") {
            let objects = self.setup.objects(rate);
            text.pair("filesPerProc", &objects.steps.to_string());
            text.pair("precreatePerSet", &objects.precreated.to_string());
        }
        if phase == Phase::MdtestHardWrite && self.setup.files_per_directory().is_some() {
            text.warning(
                "no stonewall with files-per-dir: n has to be large enough for the time of the rules",
            );
        }
        if !line.is_empty() {
            text.pair("exe", &line.join(" "));
        }
        if phase.name().starts_with("find") {
            text.pair("nproc", &self.setup.search_tasks(phase).to_string());
        }
        text
    }

    /// The rest of the section of `phase`, and its line.
    pub fn phase_ends(&mut self, phase: Phase, outcome: &Outcome, now_unix_ns: i64) -> Text {
        let mut text = Text::default();
        let (seconds, score) = (outcome.seconds, outcome.score);
        let mut is_valid = true;
        for entry in &outcome.entries {
            match entry {
                Entry::Pair(key, value) => text.pair(key, value),
                Entry::Warning(about) => text.warning(about),
                Entry::Invalid(why) => {
                    is_valid = false;
                    text.invalid(why);
                }
            }
        }
        let mut invalid = |why: &str, text: &mut Text| {
            is_valid = false;
            text.invalid(why);
        };
        let is_measured = phase != Phase::Timestamp;
        if !self.is_dry {
            if phase.has_stonewall() && seconds < self.setup.stonewall() as f64 {
                let why = format!("the phase took {seconds:.6} s, less than the time of the stonewall");
                invalid(&why, &mut text);
            } else if score <= 0.0 && is_measured {
                invalid("the result of a phase should not be 0", &mut text);
            }
        }
        if phase.has_stonewall() && seconds < self.setup.stonewall_of_rules() as f64 {
            invalid("Runtime is smaller than expected minimum runtime", &mut text);
        }
        if !is_valid {
            self.is_valid_extended = false;
            self.is_valid &= phase.is_extended();
        }
        if is_measured {
            text.pair("score", &decimals(score));
        }
        let marked = if is_valid { "" } else { " [INVALID]" };
        let head = if phase.group() == Group::None { "[      ]" } else { "[RESULT]" };
        text.both(&format!(
            "{head} {:>20} {:>15} {} : time {seconds:.3} seconds{marked}",
            phase.name(),
            decimals(score),
            phase.unit()
        ));
        self.scores.push((phase, score));
        if self.setup.verbosity() > 0 {
            text.pair("t_delta", &format!("{seconds:.4}"));
        }
        self.moment("t_end", now_unix_ns, &mut text);
        text
    }

    /// The scores. The run ends at `now_unix_ns`.
    #[must_use]
    pub fn end(&self, now_unix_ns: i64) -> Text {
        let mut text = Text::default();
        let mut hash = Hash::default();
        hash.pair("version", &self.version);
        self.add_scores(&mut hash, false);
        self.score(&mut text, hash, "SCORE", self.is_valid);
        if self.is_extended {
            let mut hash = Hash::default();
            self.add_scores(&mut hash, true);
            self.score(&mut text, hash, "SCOREX", self.is_valid_extended);
        }
        if self.setup.verbosity() > 0 {
            let _ = writeln!(text.result, "; END {}", local(now_unix_ns, MOMENT));
        }
        let directory = &self.setup.resultdir;
        let _ = writeln!(text.screen, "\nThe result files are stored in the directory: {directory}");
        text
    }

    /// Adds the results of the phases that only the extended mode has, or of the others.
    fn add_scores(&self, hash: &mut Hash, is_extended: bool) {
        let counted = |phase: Phase| phase.group() != Group::None && phase.is_extended() == is_extended;
        for (phase, score) in self.scores.iter().filter(|(phase, _)| counted(*phase)) {
            hash.number(phase.name(), *score);
        }
    }

    fn score(&self, text: &mut Text, mut hash: Hash, section: &str, is_valid: bool) {
        let is_extended = section == "SCOREX";
        let mean = |group: Group| {
            let of_group = |(phase, score): &(Phase, f64)| {
                let counts = phase.group() == group && (is_extended || !phase.is_extended());
                (counts && *score > 0.0).then_some(*score)
            };
            geometric_mean(self.scores.iter().filter_map(of_group))
        };
        let (metadata, bandwidth) = (mean(Group::Metadata), mean(Group::Bandwidth));
        let total = (metadata * bandwidth).sqrt();
        let marked = if is_valid { "" } else { " [INVALID]" };
        let _ = write!(text.result, "\n[{section}]\n");
        text.pair("MD", &decimals(metadata));
        text.pair("BW", &decimals(bandwidth));
        text.pair("SCORE", &format!("{}{marked}", decimals(total)));
        for (key, value) in [("MD", metadata), ("BW", bandwidth), ("SCORE", total)] {
            hash.number(key, value);
        }
        if !is_valid {
            hash.pair("valid", "NO");
        }
        text.pair("hash", &hash.to_string());
        text.both(&format!(
            "[{section:<6}] Bandwidth {} GiB/s : IOPS {} kiops : TOTAL {}{marked}",
            decimals(bandwidth),
            decimals(metadata),
            decimals(total)
        ));
    }
}

/// The geometric mean; 0 if there are no values.
fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (product, count) = values.fold((1.0, 0), |(product, count), value| (product * value, count + 1));
    if count == 0 { 0.0 } else { f64::powf(product, 1.0 / f64::from(count)) }
}
