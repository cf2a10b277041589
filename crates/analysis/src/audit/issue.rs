//! What an audit says: the check that found something doubtful, the numbers, and what to do.

use std::borrow::Cow;
use std::collections::HashSet;

use super::policy::{Check, OnModels, Outcome, Use};

/// Something doubtful, with evidence.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct AuditIssue {
    pub check: Check,
    /// The figure; none where it concerns the study or a published figure.
    pub figure: Option<usize>,
    /// What it concerns, in words: conditions of the figure, or the id of a published one.
    pub concerns: String,
    pub evidence: String,
    pub advice: String,
    /// How far beyond its limit the figure is, to compare doubts of one check by; larger is worse.
    pub severity: f64,
}

impl AuditIssue {
    /// Whether no promise can be kept by a figure with it.
    #[must_use]
    pub fn disqualifies(&self) -> bool {
        self.withholds(Use::PromiseKept)
    }

    /// Gives the advice for simulated figures, where the check has one.
    pub(crate) fn advise_on_model(&mut self) {
        if let OnModels::Advises(advice) = self.check.policy().on_models {
            advice.clone_into(&mut self.advice);
        }
    }

    /// Whether `statement` cannot be made of a figure with it.
    #[must_use]
    pub fn withholds(&self, statement: Use) -> bool {
        self.check.outcome(statement) == Outcome::Withheld
    }
}

/// The figures that one of `checks` doubts.
#[must_use]
pub fn doubted(doubts: &[AuditIssue], checks: &[Check]) -> HashSet<usize> {
    doubts.iter().filter(|doubt| checks.contains(&doubt.check)).filter_map(|doubt| doubt.figure).collect()
}

/// By how much a rate may be above a ceiling before it is doubted: nominal rates of links are rounded, and clocks of two
/// machines are compared.
pub(crate) const CEILING_SLACK: f64 = 0.01;
/// By how much a rate may be above the sum of its devices before the baseline is doubted: devices differ, and
/// repetitions scatter.
pub(crate) const SCALING_SLACK: f64 = 0.05;
/// A mean latency below this is memory's, not a device's: a flash device behind NVMe needs some 10 µs for a read, a
/// transfer around the page cache alone some 2 µs of the kernel. Study B prints 1 µs for a SATA SSD.
pub(crate) const DEVICE_LATENCY_MIN_NS: f64 = 2_000.0;
/// A round trip over a network and through two kernels takes longer than this; what is faster was
/// answered by the client.
pub(crate) const NETWORK_LATENCY_MIN_NS: f64 = 5_000.0;
/// How far Little's law may be off before it is doubted: waiting for the first and the last task
/// belongs to the time, but not to any transfer.
pub(crate) const LITTLE_SLACK: f64 = 0.10;
/// The mean of rates and the rate of the sums differ by more than this only where repetitions differ much.
pub(crate) const RATIO_SLACK: f64 = 0.05;

/// A doubt as its checks give it, before it is known what it concerns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) check: Check,
    pub(super) evidence: String,
    pub(super) advice: Cow<'static, str>,
    pub(super) severity: f64,
}

impl Found {
    pub(super) fn new(
        check: Check,
        evidence: impl Into<String>,
        advice: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { check, evidence: evidence.into(), advice: advice.into(), severity: 0.0 }
    }

    /// With `severity`, which is larger for what is worse; doubts of one check are compared by it.
    pub(super) fn with_severity(self, severity: f64) -> Self {
        Self { severity, ..self }
    }

    pub(super) fn of(self, figure: Option<usize>, concerns: impl Into<String>) -> AuditIssue {
        let Self { check, evidence, advice, severity } = self;
        AuditIssue {
            check,
            figure,
            concerns: concerns.into(),
            evidence,
            advice: advice.into_owned(),
            severity,
        }
    }
}

/// A share in percent, as in `91.7 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
