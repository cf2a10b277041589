//! What an audit reports: the check that found something doubtful, the numbers, and advice.

use std::borrow::Cow;
use std::collections::HashSet;

use super::policy::{Check, OnModels, Outcome, Use};

/// Something doubtful, with evidence.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct AuditIssue {
    pub check: Check,
    /// The figure. `None` if the issue concerns the study or a published figure.
    pub figure: Option<usize>,
    /// The index of the commitment, if the issue is about how it is judged.
    pub commitment: Option<usize>,
    /// What the issue is about, in words: the conditions of the figure, or the id of a published one.
    pub concerns: String,
    pub evidence: String,
    pub advice: String,
    /// How far the figure exceeds its limit. Used to rank doubts of the same check; larger is worse.
    pub severity: f64,
}

impl AuditIssue {
    /// Whether a figure with this issue cannot keep a commitment.
    #[must_use]
    pub fn disqualifies(&self) -> bool {
        self.withholds(Use::PromiseKept)
    }

    /// Replaces the advice for simulated figures, if the check has its own advice for them.
    pub(crate) fn advise_on_model(&mut self) {
        if let OnModels::Advises(advice) = self.check.policy().on_models {
            advice.clone_into(&mut self.advice);
        }
    }

    /// Whether `statement` must not be made about a figure with this issue.
    #[must_use]
    pub fn withholds(&self, statement: Use) -> bool {
        self.check.outcome(statement) == Outcome::Withheld
    }
}

/// The figures that one of `checks` casts doubt on.
#[must_use]
pub fn doubted(doubts: &[AuditIssue], checks: &[Check]) -> HashSet<usize> {
    doubts.iter().filter(|doubt| checks.contains(&doubt.check)).filter_map(|doubt| doubt.figure).collect()
}

/// How far a rate may exceed a ceiling before it is doubted: nominal link rates are rounded, and the clocks of two
/// machines are compared.
pub(crate) const CEILING_SLACK: f64 = 0.01;
/// How far a rate may exceed the sum of its devices before the baseline is doubted: devices differ, and repetitions
/// scatter.
pub(crate) const SCALING_SLACK: f64 = 0.05;
/// A mean latency below this comes from memory, not from a device: an NVMe flash device needs about 10 µs for a read,
/// and the kernel alone needs about 2 µs for a transfer with direct I/O. Study B prints 1 µs for a SATA SSD.
pub(crate) const DEVICE_LATENCY_MIN_NS: f64 = 2_000.0;
/// A round trip over a network and through two kernels takes longer than this; anything faster was answered by the
/// client.
pub(crate) const NETWORK_LATENCY_MIN_NS: f64 = 5_000.0;
/// How far Little's law may be off before it is doubted: waiting for the first and the last task is part of the time
/// but not of any transfer.
pub(crate) const LITTLE_SLACK: f64 = 0.10;
/// The mean of the rates and the rate of the sums only differ by more than this if the repetitions differ a lot.
pub(crate) const RATIO_SLACK: f64 = 0.05;

/// A doubt as a check returns it, before it is tied to a figure or study.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawIssue {
    pub(super) check: Check,
    pub(super) evidence: String,
    pub(super) advice: Cow<'static, str>,
    pub(super) severity: f64,
}

impl RawIssue {
    pub(super) fn new(
        check: Check,
        evidence: impl Into<String>,
        advice: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { check, evidence: evidence.into(), advice: advice.into(), severity: 0.0 }
    }

    /// Sets `severity`, which ranks doubts of the same check; larger is worse.
    pub(super) fn with_severity(self, severity: f64) -> Self {
        Self { severity, ..self }
    }

    pub(super) fn of(self, figure: Option<usize>, concerns: impl Into<String>) -> AuditIssue {
        let Self { check, evidence, advice, severity } = self;
        AuditIssue {
            check,
            figure,
            commitment: None,
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
