//! The audit: what is doubtful in figures, with the numbers that show it. Every check here would
//! have caught a slip of a published study, and each runs over own figures or published ones.

use std::borrow::Cow;

mod doubt;
mod links;
mod measured;
mod memory;
mod own;
mod passes;
mod policy;
mod printed;
mod published;
mod recomputed;
mod terms;

pub use doubt::{Doubt, doubted};
pub(crate) use links::above_links;
pub use own::audit;
pub(crate) use own::beyond_devices;
pub use policy::{CHECKS, Check, CheckPolicy, Severity, Use};
pub use published::audit_published;

/// By how much a rate may be above a ceiling before it is doubted: nominal rates of links are
/// rounded, and clocks of two machines are compared.
pub const CEILING_SLACK: f64 = 0.01;
/// By how much a rate may be above the sum of its devices before the baseline is doubted: devices
/// differ, and repetitions scatter.
pub const SCALING_SLACK: f64 = 0.05;
/// A mean latency below this is memory's, not a device's: a flash device behind NVMe needs some
/// 10 µs for a read, a transfer around the page cache alone some 2 µs of the kernel. Study B prints
/// 1 µs for a SATA SSD.
pub const DEVICE_LATENCY_MIN_NS: f64 = 2_000.0;
/// A round trip over a network and through two kernels takes longer than this; what is faster was
/// answered by the client.
pub const NETWORK_LATENCY_MIN_NS: f64 = 5_000.0;
/// How far Little's law may be off before it is doubted: waiting for the first and the last task
/// belongs to the time, but not to any transfer.
pub const LITTLE_SLACK: f64 = 0.10;
/// The mean of rates and the rate of the sums differ by more than this only where repetitions
/// differ much.
pub const RATIO_SLACK: f64 = 0.05;

/// A doubt as its checks give it, before it is known what it concerns.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    check: Check,
    evidence: String,
    advice: Cow<'static, str>,
}

impl Found {
    fn new(check: Check, evidence: impl Into<String>, advice: impl Into<Cow<'static, str>>) -> Self {
        Self { check, evidence: evidence.into(), advice: advice.into() }
    }

    fn of(self, figure: Option<usize>, concerns: impl Into<String>) -> Doubt {
        let Self { check, evidence, advice } = self;
        Doubt { check, figure, concerns: concerns.into(), evidence, advice: advice.into_owned() }
    }
}

/// A share in percent, as in `91.7 %`.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
