//! How long a job may take.

use plan::Nanos;

/// A job whose time ends is killed, so it has the forecast times this: rates that nobody has
/// measured yet may be that much lower.
const MARGIN: f64 = 1.5;
/// Start-up, checks and clean-up, which the forecast does not know.
const AROUND_SECONDS: f64 = 300.0;
/// Longer jobs are hardly ever admitted; it is also what an endless forecast becomes.
const SECONDS_MAX: f64 = 30.0 * 86_400.0;

/// The wall time of a job, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallTime {
    /// The time that the study is expected to take.
    pub forecast_seconds: f64,
    /// What is asked for, a whole number of minutes.
    pub minutes: u64,
    /// Whether the user said so.
    pub given: bool,
}

impl WallTime {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within SECONDS_MAX")]
    pub(super) fn of(forecast_seconds: f64, given: Option<Nanos>) -> Self {
        let seconds = match given {
            Some(time) => time.as_secs_f64(),
            None => forecast_seconds.mul_add(MARGIN, AROUND_SECONDS),
        };
        let minutes = (seconds.clamp(60.0, SECONDS_MAX) / 60.0).ceil() as u64;
        Self { forecast_seconds, minutes, given: given.is_some() }
    }

    /// As `D-HH:MM:SS` without the days, which all of these systems read.
    pub(super) fn clock(self) -> String {
        format!("{:02}:{:02}:00", self.minutes / 60, self.minutes % 60)
    }

    /// What stands below the directives, in lines that start with words of our own: a comment that
    /// starts with others could be a directive.
    pub(super) fn comment(self, rate: f64, source: &str) -> [String; 2] {
        let forecast = self.forecast_seconds.ceil().min(SECONDS_MAX);
        let second = match self.given {
            true if forecast > self.minutes as f64 * 60.0 => {
                "The time that was given is SHORTER: the job will be killed before its end.".to_owned()
            }
            true => "The time was given by the user.".to_owned(),
            false => {
                format!("The time is {MARGIN} times that and {} minutes.", AROUND_SECONDS / 60.0)
            }
        };
        let rate = (rate / 1e6).round();
        [format!("It is expected to take {}, at {rate} MB/s, {source}.", spoken(forecast)), second]
    }
}

/// Seconds up to two minutes, whole minutes above.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within SECONDS_MAX")]
fn spoken(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil() as u64;
    match minutes {
        0..=2 => format!("{seconds} s"),
        3..60 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use plan::Nanos;

    use super::WallTime;

    #[test]
    fn the_forecast_has_a_margin_and_ends_on_a_minute() {
        // 1000 s × 1.5 + 300 s.
        assert_eq!(WallTime::of(1000.0, None).clock(), "00:30:00");
        assert_eq!(WallTime::of(1001.0, None).clock(), "00:31:00");
        assert_eq!(WallTime::of(f64::INFINITY, None).clock(), "720:00:00");
        assert_eq!(WallTime::of(1e6, Some(Nanos::millis(90_500))).clock(), "00:02:00");
    }

    #[test]
    fn long_times_are_told_in_hours() {
        let told = |seconds| WallTime::of(seconds, None).comment(500e6, "assumed")[0].clone();
        assert_eq!(told(89.2), "It is expected to take 90 s, at 500 MB/s, assumed.");
        assert_eq!(told(1001.0), "It is expected to take 17 min, at 500 MB/s, assumed.");
        assert_eq!(told(34_635.0), "It is expected to take 9 h 38 min, at 500 MB/s, assumed.");
    }

    #[test]
    fn a_time_that_is_too_short_is_told() {
        let short = WallTime::of(1000.0, Some(Nanos::millis(60_000)));
        assert!(short.comment(500e6, "assumed")[1].contains("SHORTER"));
        assert!(
            !WallTime::of(10.0, Some(Nanos::millis(60_000))).comment(500e6, "assumed")[1].contains("SHORTER")
        );
    }
}
