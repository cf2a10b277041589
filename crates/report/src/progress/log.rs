//! Timing of log lines without a live display: one for each case that ends, but never hundreds a second, and
//! at least one a minute.

use std::time::Duration;

/// Limit on lines for cases that end within one second.
const LINES_MAX: u32 = 50;
const SECOND: Duration = Duration::from_secs(1);
/// Longest silence in a log while the run continues.
const SILENT_MAX: Duration = Duration::from_secs(60);

/// Written and pending lines. Times count from the beginning of the run.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// When a line was written.
    last: Duration,
    /// Start of the current counting interval for lines about cases, and the number written since then.
    counted: (Duration, u32),
    /// Cases that ended without a line, and the line of the last of them.
    waiting: Option<(usize, String)>,
}

impl Log {
    /// A case has ended, described by `line`. Returns the line to be written now.
    pub(super) fn ended(&mut self, now: Duration, line: String) -> Option<String> {
        let before = self.waiting.take().map_or(0, |(count, _)| count);
        self.waiting = Some((before + 1, line));
        if self.has_room(now) { self.waiting(now) } else { None }
    }

    /// The line that is due at `now`; `state` describes the progress of the run.
    pub(super) fn due(&mut self, now: Duration, state: impl FnOnce() -> String) -> Option<String> {
        if self.waiting.is_some() && self.has_room(now) {
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

    /// The pending line.
    pub(super) fn waiting(&mut self, now: Duration) -> Option<String> {
        let (count, line) = self.waiting.take()?;
        self.last = now;
        self.counted.1 += 1;
        Some(match count {
            1 => line,
            _ => format!("{line}, and {} before it, too fast for a line each", count - 1),
        })
    }

    fn has_room(&mut self, now: Duration) -> bool {
        if now >= self.counted.0 + SECOND {
            self.counted = (now, 0);
        }
        self.counted.1 < LINES_MAX
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
    fn each_case_has_a_line_unless_hundreds_end_each_second() {
        let mut log = Log::default();
        let at = |millis: u32| Duration::from_millis(1) * millis;
        let mut ended = |millis| log.ended(at(millis), format!("case {millis}"));
        for millis in [5, 6, 300, 301] {
            assert_eq!(ended(millis), Some(format!("case {millis}")));
        }
        let written = (1000..1200).filter_map(ended).count();
        assert_eq!(written, 50);
        assert_eq!(log.due(at(1999), state), None);
        let line = "case 1199, and 149 before it, too fast for a line each";
        assert_eq!(log.due(at(2000), state), Some(line.to_owned()));
        assert_eq!(log.waiting(at(2001)), None, "nothing is left untold");
    }
}
