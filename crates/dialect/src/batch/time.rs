//! The wall time that a job requests.

use plan::{Interval, Nanos, Prediction};

/// A job is killed when its time ends, so it requests the longest expected time multiplied by this. Time spent
/// between phases is not part of any prediction.
const MARGIN: f64 = 1.2;
/// Start-up, checks and clean-up, which are not part of the forecast.
const AROUND_SECONDS: f64 = 300.0;
/// Maximum wall time. Longer jobs are hardly ever admitted; it is also used if the forecast is unlimited.
const SECONDS_MAX: f64 = 30.0 * 86_400.0;

/// The wall time of a job, and how it was determined.
#[derive(Debug, Clone, PartialEq)]
pub struct WallTime {
    /// The expected duration of the study, and the basis of the prediction.
    pub prediction: Prediction,
    /// The requested time in whole minutes.
    pub minutes: u64,
    /// Whether the user specified it.
    pub given: bool,
}

impl WallTime {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within SECONDS_MAX")]
    pub(super) fn of(prediction: Prediction, given: Option<Nanos>) -> Self {
        let seconds = match given {
            Some(time) => time.as_secs_f64(),
            None => prediction.seconds.high.mul_add(MARGIN, AROUND_SECONDS),
        };
        let minutes = (seconds.clamp(60.0, SECONDS_MAX) / 60.0).ceil() as u64;
        Self { prediction, minutes, given: given.is_some() }
    }

    /// In the format `D-HH:MM:SS` without the days, which all of these systems accept.
    pub(super) fn clock(&self) -> String {
        format!("{:02}:{:02}:00", self.minutes / 60, self.minutes % 60)
    }

    /// The comment below the directives. Its lines start with words of this program, because a comment
    /// that starts with other words could be a directive.
    pub(super) fn comment(&self) -> [String; 2] {
        let Interval { low, high, .. } = self.prediction.seconds;
        let range = match (spoken(low), spoken(high)) {
            (low, high) if low == high => low,
            (low, high) => format!("{low} to {high}"),
        };
        let enough = || match self.given {
            true => "The time was given by the user.".to_owned(),
            false => {
                format!(
                    "The time is {MARGIN} times the longest expected duration plus {} minutes.",
                    AROUND_SECONDS / 60.0
                )
            }
        };
        let first = format!("The expected duration is {range}, according to {}.", self.prediction.source);
        [first, self.shortage().unwrap_or_else(enough)]
    }

    /// Why the job may be killed before its end, as a sentence, or `None` if its time is sufficient.
    pub(super) fn shortage(&self) -> Option<String> {
        let Interval { middle, high, .. } = self.prediction.seconds;
        let asked = self.minutes as f64 * 60.0;
        let time = match (self.given, asked < SECONDS_MAX) {
            (_, false) => format!("The time of {} h, the maximum that is requested,", SECONDS_MAX / 3600.0),
            (true, true) => "The given time".to_owned(),
            (false, true) => return None,
        };
        match () {
            () if middle > asked => {
                Some(format!("{time} is SHORTER than expected: the job will be killed before it ends."))
            }
            () if high > asked => Some(format!(
                "{time} is SHORTER than the longest expected duration: the job may be killed before it \
                     ends."
            )),
            () => None,
        }
    }
}

/// Formats a duration in seconds up to two minutes, in whole minutes above.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within SECONDS_MAX")]
fn spoken(seconds: f64) -> String {
    let seconds = seconds.ceil();
    if seconds > SECONDS_MAX {
        return format!("more than {} h", SECONDS_MAX / 3600.0);
    }
    let minutes = (seconds / 60.0).ceil() as u64;
    match minutes {
        0..=2 => format!("{seconds} s"),
        3..60 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use plan::{Interval, Nanos, Prediction};

    use super::WallTime;

    /// The wall time of a study that takes `seconds`, or between half and twice as long.
    fn of(seconds: f64, given: Option<Nanos>) -> WallTime {
        let seconds = Interval::around(seconds, 2.0);
        WallTime::of(Prediction { seconds, source: "the study's ceilings".to_owned() }, given)
    }

    #[test]
    fn the_longest_time_has_a_margin_and_ends_on_a_minute() {
        // 1250 s × 1.2 + 300 s.
        assert_eq!(of(625.0, None).clock(), "00:30:00");
        assert_eq!(of(626.0, None).clock(), "00:31:00");
        assert_eq!(of(f64::INFINITY, None).clock(), "720:00:00");
        assert_eq!(of(1e6, Some(Nanos::millis(90_500))).clock(), "00:02:00");
    }

    #[test]
    fn the_range_is_told_with_its_source() {
        let told = |seconds| of(seconds, None).comment()[0].clone();
        assert_eq!(told(45.0), "The expected duration is 23 s to 90 s, according to the study's ceilings.");
        assert_eq!(
            told(1000.0),
            "The expected duration is 9 min to 34 min, according to the study's ceilings."
        );
        assert_eq!(
            told(34_635.0),
            "The expected duration is 4 h 49 min to 19 h 15 min, according to the study's ceilings."
        );
    }

    #[test]
    fn a_time_that_is_too_short_is_told() {
        let told = |seconds| of(seconds, Some(Nanos::secs(60))).comment()[1].clone();
        assert!(told(1000.0).contains("SHORTER than expected: the job will"));
        assert!(told(40.0).contains("SHORTER than the longest expected duration: the job may"));
        assert!(!told(10.0).contains("SHORTER"));
    }

    #[test]
    fn a_forecast_beyond_the_longest_job_is_told() {
        let told = |seconds| of(seconds, None).comment().join(" ");
        let endless = told(f64::INFINITY);
        assert!(endless.contains("more than 720 h, according to"), "{endless}");
        assert!(endless.contains("the maximum that is requested, is SHORTER than expected: the job will"));
        assert!(told(20.0 * 86_400.0).contains("requested, is SHORTER than the longest"));
        assert!(!told(86_400.0).contains("that is requested"));
    }
}
