//! When a line is written where nobody looks at a live one: for each case that ends, but never many at once, and at
//! least each minute.

use std::time::Duration;

/// Lines about cases are so far apart; what ends in between stands in one line.
const APART: Duration = Duration::from_secs(2);
/// Somebody who follows a log must know within this that the run goes on.
const SILENT_MAX: Duration = Duration::from_secs(60);

/// What was written, and what waits. Times count from the beginning of the run.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// When a line was written.
    last: Duration,
    /// When a line about a case was written.
    last_case: Option<Duration>,
    /// Cases that have ended since, and what is to be said of the last of them.
    waiting: Option<(usize, String)>,
}

impl Log {
    /// A case has ended, of which `line` tells. Gives the line that is to be written now.
    pub(super) fn ended(&mut self, now: Duration, line: String) -> Option<String> {
        let before = self.waiting.take().map_or(0, |(count, _)| count);
        self.waiting = Some((before + 1, line));
        if self.last_case.is_some_and(|last| now < last + APART) {
            return None;
        }
        self.waiting(now)
    }

    /// The line that is due at `now`; `state` tells how far the run is.
    pub(super) fn due(&mut self, now: Duration, state: impl FnOnce() -> String) -> Option<String> {
        if self.waiting.is_some() && self.last_case.is_none_or(|last| now >= last + APART) {
            return self.waiting(now);
        }
        if now < self.last + SILENT_MAX {
            return None;
        }
        self.last = now;
        Some(state())
    }

    /// Something else was written.
    pub(super) fn wrote(&mut self, now: Duration) {
        self.last = now;
    }

    /// What has waited.
    pub(super) fn waiting(&mut self, now: Duration) -> Option<String> {
        let (count, line) = self.waiting.take()?;
        (self.last, self.last_case) = (now, Some(now));
        Some(match count {
            1 => line,
            _ => format!("{line}, and {} before it", count - 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Log;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn state() -> String {
        "goes on".to_owned()
    }

    #[test]
    fn a_line_comes_for_each_case_and_each_silent_minute() {
        let mut log = Log::default();
        assert_eq!(log.due(at(59), state), None);
        assert_eq!(log.due(at(60), state), Some(state()));
        assert_eq!(log.due(at(119), state), None);
        assert_eq!(log.ended(at(119), "a".into()), Some("a".into()));
        assert_eq!(log.due(at(178), state), None, "a line about a case breaks the silence");
        assert_eq!(log.due(at(179), state), Some(state()));
        log.wrote(at(200));
        assert_eq!(log.due(at(259), state), None, "so does any other");
    }

    #[test]
    fn many_short_cases_share_a_line() {
        let mut log = Log::default();
        let tenth = |number: u32| Duration::from_millis(100) * number;
        let ended: Vec<Option<String>> =
            (0..4).map(|number| log.ended(tenth(number), format!("case {number}"))).collect();
        assert_eq!(ended, [Some("case 0".to_owned()), None, None, None]);
        assert_eq!(log.due(tenth(19), state), None);
        assert_eq!(log.due(tenth(20), state), Some("case 3, and 2 before it".to_owned()));
        assert_eq!(log.ended(tenth(30), "case 4".into()), None);
        assert_eq!(log.waiting(tenth(31)), Some("case 4".to_owned()), "an end leaves nothing untold");
        assert_eq!(log.waiting(tenth(31)), None);
    }
}
