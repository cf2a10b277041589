//! A run with its analysis, ready to be rendered in any format.

use std::io::{self, Write};

use plan::Limit;
use record::Run;

use crate::format::escape;
use crate::format::screen::Screen;
use crate::render::text;
use crate::render::{csv, html, markdown, openmetrics};
use crate::report::causes::causes;
use crate::report::{Report, SHOWN_RATE};
use crate::section::Second;
use crate::summary::{cross_check, sheet};

/// A run with its figures and findings. Computing these is most of the work, so callers that write several formats
/// should do it once.
///
/// ```no_run
/// let run = record::Run::open(std::path::Path::new("runs/layouts"))?;
/// let study = report::Study::of(&run);
/// println!("{}", study.text(report::Screen::PLAIN));
/// study.html(&mut std::fs::File::create("report.html")?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Study<'a> {
    run: &'a Run,
    report: Report,
    second: Option<Second>,
}

impl<'a> Study<'a> {
    /// Computes the figures of `run` and their findings.
    #[must_use]
    pub fn of(run: &'a Run) -> Self {
        let sources = analysis::figures::figures(run, SHOWN_RATE);
        let findings = analysis::findings::findings(run, &sources);
        Self { run, report: Report::of(run, sources, findings), second: None }
    }

    /// Adds `other`, another run of the same study: the charts show it dotted, and the page lists the changes and
    /// whether they are within `limits`.
    #[must_use]
    pub fn beside(mut self, other: Self, limits: &[Limit]) -> Self {
        let pair = crate::compare([self.run, other.run].map(std::slice::from_ref), limits);
        let (answer, changed, comparisons) = (pair.changes(), pair.section(), pair.comparisons());
        self.second = Some(Second { report: other.report, answer, changed, comparisons });
        self
    }

    /// A sheet for each commitment for a terminal: criterion, evidence, doubts, what could not be checked, verdict.
    /// Returns `None` if there are no commitments.
    #[must_use]
    pub fn sheet(&self, screen: Screen) -> Option<String> {
        let section = sheet::section(self.run, &self.report)?;
        Some(self.marked(text::section_whole(&section, screen).trim_start(), screen))
    }

    /// The sheets as Markdown.
    #[must_use]
    pub fn sheet_markdown(&self) -> Option<String> {
        let section = sheet::section(self.run, &self.report)?;
        let mut out = markdown::marked(&self.report);
        markdown::section_markdown(&mut out, &section);
        Some(out)
    }

    /// The sheets as a self-contained page that prints well.
    #[must_use]
    pub fn sheet_html(&self) -> Option<String> {
        let section = sheet::section(self.run, &self.report)?;
        Some(html::section_alone(&self.report.run.heading, &section))
    }

    /// The doubts about the figures in one line, with the evidence of the first cause: `cached, all 4 figures (the
    /// devices read 2 %); not quiet, 2 of 4 figures`.
    #[must_use]
    pub fn doubts(&self) -> Option<String> {
        let (mut causes, all) =
            (causes(&self.report.found.audit, &self.report.notes), self.report.figures.len());
        causes.retain(|cause| !cause.is_observation());
        let (worst, others) = causes.split_first()?;
        let others: String = others.iter().map(|cause| format!("; {}", cause.named(all))).collect();
        Some(format!("{} ({}){others}", worst.named(all), worst.evidence))
    }

    /// The data that all formats show.
    pub(crate) const fn report(&self) -> &Report {
        &self.report
    }

    /// A line for each case that was measured alternately with another tool.
    #[must_use]
    pub fn cross_check(&self, screen: Screen) -> String {
        cross_check::text(self.run, &self.report, screen)
    }

    /// The answer for a terminal: a card with commitments, claims and best points, the figures, and the doubts about
    /// them.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let rivals = cross_check::text(self.run, &self.report, screen);
        let rivals = if rivals.is_empty() { rivals } else { format!("\n{rivals}") };
        text::text(&self.report, screen) + &rivals
    }

    /// All tables for a terminal.
    #[must_use]
    pub fn text_in_full(&self, screen: Screen) -> String {
        text::whole(&self.report, screen)
    }

    /// Markdown, with pipe tables.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::markdown(&self.report)
    }

    /// One row per figure, as comma-separated values.
    #[must_use]
    pub fn csv(&self) -> String {
        csv::csv(&self.report)
    }

    /// A row for each job launch and each of its steps, as comma-separated values. Returns `None` if there were no
    /// jobs.
    #[must_use]
    pub fn launches_csv(&self) -> Option<String> {
        csv::wide(&self.report, analysis::gate::Kind::FullTimer)
    }

    /// JSON in the schema `ioproof-report/3`.
    #[must_use]
    pub fn json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out).expect("memory takes whatever is written");
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// Writes the same as [`Study::json`], but never holds the whole text in memory, which matters for studies with
    /// thousands of cases.
    ///
    /// # Errors
    /// Errors if writing to `out` failed.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        escape::json(&self.report, out)?;
        out.write_all(b"\n")
    }

    /// The figures as OpenMetrics 1.0 text, for monitoring.
    #[must_use]
    pub fn openmetrics(&self) -> String {
        openmetrics::openmetrics(&self.report)
    }

    /// One page with interactive charts that needs no network.
    ///
    /// # Errors
    /// Errors if writing to `out` failed.
    pub fn html(&self, out: &mut impl Write) -> io::Result<()> {
        html::html(self.run, &self.report, self.second.as_ref(), out)
    }
}
