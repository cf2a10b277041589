//! Figures whose level changes during the measurement.

use plan::Criteria;

use super::draw::{Point, Random, Seconds};
use super::said::Kind;
use super::scenario::{RATE, Setup, Trial, down, nothing, point, trial};

/// The number of passes of the figure that changes between passes.
const PASSES: u32 = 24;
/// First-order autocorrelation between seconds, as with caches that are written back every few seconds.
const AUTOCORRELATION: [f64; 3] = [0.0, 0.3, 0.5];

/// One figure with passes of two minutes, of which the last fifty seconds are slower by the effect, and another
/// figure with many passes, of which the second half is slower.
pub(super) fn levels(setup: Setup, random: &mut Random) -> Trial {
    let seconds = Seconds { autocorrelation: random.of(&AUTOCORRELATION), loss: setup.effect };
    let within = Point { seconds: Some(seconds), ..point(setup, "within", "a", RATE) };
    let over = Point { repetitions: PASSES, loss: setup.effect, ..point(setup, "over", "b", RATE) };
    let truth = |kind| if setup.effect > 0.0 { down(kind) } else { nothing(kind) };
    let truths = vec![truth(Kind::ChangedWithin), truth(Kind::ChangedOver)];
    let made = trial(setup, Criteria::default(), &[within, over], truths, random);
    // Neither figure has a single true rate that an interval could contain.
    Trial { rates: Vec::new(), ..made }
}
