//! Figures whose level changes while they are measured.

use plan::Criteria;

use super::draw::{Point, Random, Seconds};
use super::said::Kind;
use super::scenario::{RATE, Setup, Trial, down, nothing, point, trial};

/// Passes of the figure that changes from one pass to the next.
const PASSES: u32 = 24;
/// Autocorrelation of the first order between seconds, as of caches that are written back every few seconds.
const AUTOCORRELATION: [f64; 3] = [0.0, 0.3, 0.5];

/// Two minutes of each pass of one figure, of which the last fifty seconds are slower by the effect; and many passes of
/// another one, of which the second half is.
pub(super) fn levels(setup: Setup, random: &mut Random) -> Trial {
    let seconds = Seconds { autocorrelation: random.of(&AUTOCORRELATION), loss: setup.effect };
    let within = Point { seconds: Some(seconds), ..point(setup, "within", "a", RATE) };
    let over = Point { repetitions: PASSES, loss: setup.effect, ..point(setup, "over", "b", RATE) };
    let truth = |kind| if setup.effect > 0.0 { down(kind) } else { nothing(kind) };
    let truths = vec![truth(Kind::ChangedWithin), truth(Kind::ChangedOver)];
    let made = trial(setup, Criteria::default(), &[within, over], truths, random);
    // The rates of both are not one number, which an interval could hold.
    Trial { rates: Vec::new(), ..made }
}
