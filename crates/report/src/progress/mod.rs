//! Progress on stderr: on a terminal a live line and the result of each case, otherwise timestamped lines for
//! each case and each minute, suitable for a batch system's log.

mod left;
mod log;

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use analysis::statistics::Summary;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plan::{Bytes, Case, CaseEstimate, Interval, PassRole, Phase, Plan, visible, visible_lines};
use record::PhaseRow;

use self::left::TimeLeft;
use self::log::Log;
use crate::format::names::{operations_unit, unit};
use crate::format::screen::{COLUMNS, terminal_columns};
use crate::format::table::width;
use crate::format::{counted, duration, rate_in};

/// Width of the bar, and its minimum.
const BAR: usize = 16;
const BAR_LEAST: usize = 4;
/// Redraws per second; more costs the load CPU time without benefit.
const DRAWS_PER_SECOND: u8 = 4;
/// Maximum number of results of a case in a line.
const RESULTS_MAX: usize = 4;
/// The computing of a model may take so many times as long as expected, or as short.
const COMPUTING_FACTOR: f64 = 5.0;
/// Random transfers up to this size are shown in transfers per second.
const SMALL_MAX: Bytes = Bytes::kib(64);

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Everything.
    All,
    /// The location of the record; progress is displayed by something else on the terminal.
    RecordOnly,
    /// Nothing.
    Nothing,
}

/// Where progress is shown.
#[derive(Debug)]
enum View {
    Terminal(ProgressBar),
    Log(Log),
    None,
}

/// Results of a case in progress: the rates of each phase, and their units.
#[derive(Debug)]
struct Results {
    case: String,
    small: bool,
    rates: Vec<(Phase, Vec<f64>)>,
}

/// Progress of a run on stderr:
///
/// ```no_run
/// # fn show(plan: &plan::Plan, around: &plan::RunEnvironment) {
/// use report::{Progress, Shown};
/// let (estimates, _) = plan::estimates(plan, around);
/// let mut progress = Progress::new("runs/1".as_ref(), plan, &estimates, None, Shown::All);
/// progress.start(&plan.cases[0], 0, plan::Phase::Write);
/// progress.update(1 << 30, 1 << 10, std::time::Duration::from_secs(2), None);
/// progress.end(std::time::Duration::from_secs(4));
/// progress.finish();
/// # }
/// ```
#[derive(Debug)]
pub struct Progress {
    left: TimeLeft,
    view: View,
    started: Instant,
    /// Results of the cases in progress.
    results: Vec<Results>,
    /// The current phase is a result of a counted pass.
    counts: bool,
    /// It is shown in transfers per second.
    small: bool,
    phase: Option<Phase>,
    /// Progress of the launches of jobs; empty if there are none.
    launches: String,
}

impl Progress {
    /// Shows the location of the record of `plan`, and the expected duration. In a model, `computing` has the expected
    /// seconds of computing a phase of each case; the time left is then that of computing, and rates are those on the
    /// model's clock.
    #[must_use]
    pub fn new(
        record: &Path,
        plan: &Plan,
        estimates: &[CaseEstimate],
        computing: Option<&[f64]>,
        shown: Shown,
    ) -> Self {
        let started = Instant::now();
        let view = View::of(shown);
        let left = TimeLeft::new(plan, estimates, computing);
        let (results, launches) = (Vec::new(), String::new());
        let progress =
            Self { left, view, started, results, counts: false, small: false, phase: None, launches };
        if shown != Shown::Nothing {
            let computing = match computing {
                Some(_) => format!(" on the model's clock, {}", computing_words(progress.left.seconds())),
                None => String::new(),
            };
            let extent = extent(plan, estimates);
            progress.view.write(&format!("record {} · {extent}{computing}", record.display()));
        }
        progress
    }

    /// Whether a live line is visible.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.view, View::Terminal(_))
    }

    /// Whether anything is shown after the first line.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        !matches!(self.view, View::None)
    }

    /// A phase begins.
    pub fn start(&mut self, case: &Case, repetition: u32, phase: Phase) {
        self.left.start(&case.id, repetition, phase);
        self.counts = phase.is_result() && case.role(repetition) == PassRole::Recorded;
        self.small = is_small(case);
        self.phase = Some(phase);
        if self.counts && !self.results.iter().any(|one| one.case == case.id) {
            let (case, small) = (case.id.clone(), self.small);
            self.results.push(Results { case, small, rates: Vec::new() });
        }
        self.draw();
    }

    /// The phase has moved `bytes` in total with `operations` operations, `elapsed` after its start; `on_model` is the same
    /// on the clock of a model.
    pub fn update(&mut self, bytes: u64, operations: u64, elapsed: Duration, on_model: Option<Duration>) {
        (self.left.moved, self.left.operations) = (bytes, operations);
        self.left.elapsed = elapsed.as_secs_f64();
        self.left.model = on_model.map(|time| time.as_secs_f64());
        self.draw();
    }

    /// Called regularly: writes a line to a log if one is due.
    pub fn tick(&mut self) {
        let (now, state) = (self.started.elapsed(), self.state());
        if let View::Log(log) = &mut self.view
            && let Some(line) = log.due(now, || state)
        {
            self.view.write(&line);
        }
    }

    /// Progress of the launches of the phase: running, finished, and `all`.
    pub fn launches(&mut self, running: u32, over: u32, all: u32) {
        self.launches = format!("  {over} of {all} launches over, {running} run");
        self.draw();
    }

    /// The phase is over, `elapsed` after its start.
    pub fn end(&mut self, elapsed: Duration) {
        self.launches.clear();
        self.left.end(elapsed);
    }

    /// Results of the phase that has ended.
    pub fn measured(&mut self, row: &PhaseRow) {
        let results = self.results.iter_mut().find(|one| row.key.case == one.case);
        let Some(results) = results.filter(|_| self.counts && row.wall_ns > 0) else { return };
        let phase = row.key.phase;
        let amount = if by_bytes(phase, results.small) { row.bytes() } else { row.transfers() };
        let rate = amount as f64 / (row.wall_ns as f64 / 1e9);
        match results.rates.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, rates)) => rates.push(rate),
            None => results.rates.push((phase, vec![rate])),
        }
    }

    /// `case` is skipped or ended early.
    pub fn skip(&mut self, case: &str) {
        self.left.skip(case);
    }

    /// `case` has failed. For a single case the error is reported at the end of the run.
    pub fn failed(&mut self, case: &str, message: &str) {
        self.skip(case);
        if !self.left.is_one() {
            self.say(&format!("{case} failed: {message}"));
        }
    }

    /// `case` has ended: shows its results.
    pub fn finished(&mut self, case: &str) {
        self.left.skip(case);
        let Some(place) = self.results.iter().position(|one| one.case == case) else { return };
        let results = self.results.swap_remove(place);
        // The results of a single case are the report.
        if self.left.is_one() {
            return;
        }
        let line = format!("{}{case}  {}", self.left.case_of(case), results.text());
        let now = self.started.elapsed();
        match &mut self.view {
            View::Terminal(_) => self.view.write(&line),
            View::Log(log) => {
                let left = self.left.seconds();
                let left = if left > 0.0 { format!("  {} left", duration(left)) } else { String::new() };
                let line = format!("{line}{left}");
                if let Some(line) = log.ended(now, line) {
                    self.view.write(&line);
                }
            }
            View::None => {}
        }
    }

    /// Writes `line` above the live line (to stderr, even if nothing else is shown).
    pub fn say(&mut self, line: &str) {
        if let View::Log(log) = &mut self.view {
            log.wrote(self.started.elapsed());
        }
        self.beside(|| {
            // A closed stream is not a reason to exit.
            let _ = writeln!(std::io::stderr(), "{}", visible_lines(line));
        });
    }

    /// Runs `write`, which writes to the terminal, while the live line is hidden.
    pub fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.view.beside(write)
    }

    /// Removes the live line, and writes pending lines.
    pub fn finish(&mut self) {
        match &mut self.view {
            View::Terminal(bar) => bar.finish_and_clear(),
            View::Log(log) => {
                if let Some(line) = log.waiting(self.started.elapsed()) {
                    self.view.write(&line);
                }
            }
            View::None => {}
        }
    }

    fn state(&self) -> String {
        format!("{}  {}", self.left.label(usize::MAX), self.figures())
    }

    fn figures(&self) -> String {
        let (done, left) = (self.left.done(), duration(self.left.seconds()));
        let phase = self.phase.unwrap_or(Phase::Fill);
        let bytes = by_bytes(phase, self.small);
        let amount = if bytes { self.left.moved } else { self.left.operations };
        let rate = match self.left.clock() {
            seconds if seconds > 0.0 && amount > 0 => {
                format!(", {}", rate_text(phase, self.small, amount as f64 / seconds))
            }
            _ => String::new(),
        };
        format!("{left} left{rate}, {done}{}", self.launches)
    }

    fn draw(&self) {
        let View::Terminal(bar) = &self.view else { return };
        let line = live_line(|room| self.left.label(room), self.left.share(), &self.figures(), columns());
        bar.set_message(line);
    }
}

/// Progress of something without a record: steps of equal length.
#[derive(Debug)]
pub struct Steps {
    what: &'static str,
    stage: &'static str,
    view: View,
    started: Instant,
}

impl Steps {
    /// Progress of steps that are called `what`.
    #[must_use]
    pub fn new(what: &'static str, shown: Shown) -> Self {
        Self { what, stage: "", view: View::of(shown), started: Instant::now() }
    }

    /// `done` steps are complete, and `stage` is in progress; each step takes `each`.
    pub fn show(&mut self, stage: &'static str, done: usize, all: usize, each: Duration) {
        let left = duration(each.as_secs_f64() * all.saturating_sub(done) as f64);
        let line = format!("{done} of {all} {}, {left} left", self.what);
        let now = self.started.elapsed();
        match &mut self.view {
            View::Terminal(bar) => {
                bar.set_message(live_line(|_| stage.to_owned(), done as f64 / all as f64, &line, columns()));
            }
            View::Log(log) => {
                let line = format!("{line}: {stage}");
                let is_new = std::mem::replace(&mut self.stage, stage) != stage;
                if is_new {
                    log.wrote(now);
                }
                let line = if is_new { Some(line) } else { log.due(now, || line) };
                line.iter().for_each(|line| self.view.write(line));
            }
            View::None => {}
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let View::Terminal(bar) = &self.view {
            bar.finish_and_clear();
        }
    }
}

impl View {
    fn of(shown: Shown) -> Self {
        match shown {
            Shown::Nothing | Shown::RecordOnly => Self::None,
            Shown::All if std::io::stderr().is_terminal() => Self::Terminal(bar()),
            Shown::All => Self::Log(Log::default()),
        }
    }

    /// Runs `write`, which writes to the terminal, while the live line is hidden.
    fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        match self {
            Self::Terminal(bar) => bar.suspend(write),
            Self::Log(_) | Self::None => write(),
        }
    }

    /// Writes a separate line; in a log with the time of day.
    fn write(&self, line: &str) {
        let line = visible(line);
        self.beside(|| {
            let mut out = std::io::stderr();
            // A closed stream is not a reason to exit.
            let _ = match out.is_terminal() {
                true => writeln!(out, "{line}"),
                false => writeln!(out, "{} {line}", jiff::Zoned::now().strftime("%H:%M:%S")),
            };
        });
    }
}

impl Results {
    /// Formats the results, as in `36.1 GB/s (35.8–36.4)`; several phases with their names.
    fn text(&self) -> String {
        let name = |phase: Phase| if self.rates.len() > 1 { format!("{phase} ") } else { String::new() };
        let all =
            self.rates.iter().map(|(phase, rates)| format!("{}{}", name(*phase), self.rate(*phase, rates)));
        let mut all: Vec<String> = all.collect();
        let more = all.len().saturating_sub(RESULTS_MAX);
        all.truncate(RESULTS_MAX);
        if more > 0 {
            all.push(format!("{more} more"));
        }
        all.join(", ")
    }

    fn rate(&self, phase: Phase, rates: &[f64]) -> String {
        let Some(summary) = Summary::of(rates) else { return String::new() };
        let text = |rate| rate_text(phase, self.small, rate);
        let median = text(summary.median);
        if rates.len() < 2 {
            return median;
        }
        let (low, high) = (text(summary.min), text(summary.max));
        let number = |text: &str| {
            let (number, unit) = text.rsplit_once(' ')?;
            median.ends_with(&format!(" {unit}")).then(|| number.to_owned())
        };
        match (number(&low), number(&high)) {
            (Some(low), Some(high)) => format!("{median} ({low}–{high})"),
            _ => format!("{median} ({low} – {high})"),
        }
    }
}

fn bar() -> ProgressBar {
    let style =
        ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND);
    ProgressBar::with_draw_target(None, target).with_style(style)
}

fn columns() -> usize {
    terminal_columns(std::io::stderr()).unwrap_or(COLUMNS)
}

/// The current work, a bar and `figures`. To fit into `columns`, the bar is shortened, then the `label`, then the bar is
/// dropped.
fn live_line(label: impl Fn(usize) -> String, share: f64, figures: &str, columns: usize) -> String {
    let beside = columns.saturating_sub(width(figures) + 2);
    let name = |room| visible(&label(room)).into_owned();
    let whole_name = name(usize::MAX);
    let bar = beside.saturating_sub(width(&whole_name) + 2).clamp(BAR_LEAST, BAR);
    let short = name(beside.saturating_sub(bar + 2));
    if width(&short) + bar + 2 > beside {
        return format!("{}  {figures}", name(beside));
    }
    let full = (1..=bar).filter(|&cell| cell as f64 - 0.5 <= share * bar as f64).count();
    format!("{short}  {}{}  {figures}", "━".repeat(full), "─".repeat(bar - full))
}

/// Whether a case is shown in transfers per second.
fn is_small(case: &Case) -> bool {
    let workload = &case.workload;
    workload.work.is_transfers() && workload.order.is_random() && workload.geometry.transfer <= SMALL_MAX
}

fn by_bytes(phase: Phase, small: bool) -> bool {
    phase.counts_bytes() && (!small || !phase.is_result())
}

fn rate_text(phase: Phase, small: bool, rate: f64) -> String {
    rate_in(rate, if by_bytes(phase, small) { unit(phase) } else { operations_unit(phase) })
}

/// `12 cases × 5, 1 h 50 min to 2 h 30 min`.
fn extent(plan: &Plan, estimates: &[CaseEstimate]) -> String {
    let repetitions = || plan.cases.iter().map(|case| case.repetitions);
    let times = match (repetitions().min().unwrap_or(1), repetitions().max().unwrap_or(1)) {
        (_, 0 | 1) => String::new(),
        (least, most) if least == most => format!(" × {most}"),
        (least, most) => format!(" × {least} to {most}"),
    };
    let seconds: Interval = estimates.iter().map(|estimate| estimate.seconds).sum();
    let cases = counted(plan.cases.len() as u64, "case");
    if estimates.iter().any(CaseEstimate::is_partly_unknown) {
        return format!("{cases}{times}, no time known");
    }
    match (duration(seconds.low), duration(seconds.high)) {
        _ if seconds.high < 0.05 => format!("{cases}{times}, less than 0.1 s"),
        (least, most) if least == most => format!("{cases}{times}, about {most}"),
        (least, most) => format!("{cases}{times}, {least} to {most}"),
    }
}

/// How long `plan` computes on a model, where `computing` has the expected seconds of a phase of each case.
#[must_use]
pub fn of_computing(plan: &Plan, estimates: &[CaseEstimate], computing: &[f64]) -> String {
    let seconds = TimeLeft::new(plan, estimates, Some(computing)).seconds();
    format!("{}: docs/MODELS.md says what is simulated and what is not", computing_words(seconds))
}

/// How long it takes to compute a model. What finds its steady state early or late differs by such factors.
fn computing_words(seconds: f64) -> String {
    match seconds / COMPUTING_FACTOR {
        _ if seconds * COMPUTING_FACTOR < 1.0 => "computed within a second".to_owned(),
        least => format!("computed in {} to {}", duration(least), duration(seconds * COMPUTING_FACTOR)),
    }
}

#[cfg(test)]
mod tests {
    use super::live_line;

    #[test]
    fn a_narrow_terminal_shortens_the_bar_and_the_name_but_never_the_rate() {
        let figures = "47 s left, 2.1 GB/s, 0.8 s of 3.0 s";
        let label = |room: usize| "case 1 of 6  seq-write write 1/3".chars().take(room).collect::<String>();
        let line = |columns| live_line(label, 0.5, figures, columns);
        assert_eq!(line(100), format!("{}  ━━━━━━━━────────  {figures}", label(99)));
        assert_eq!(line(80), format!("{}  ━━━━━────  {figures}", label(99)));
        for columns in 48..100 {
            let line = line(columns);
            assert!(line.ends_with(figures) && line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}
