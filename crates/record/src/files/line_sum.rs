//! The checksum at the end of each journal line, which detects changed, missing or inserted lines. It does
//! not protect against forgery.

use std::hash::Hasher;

use plan::limits::JOURNAL_SEARCH_BYTES;
use twox_hash::XxHash64;

/// The text before the sixteen hexadecimal digits, and the text after them.
const BEFORE: &[u8] = b",\"sum\":\"";
const BEHIND: &[u8] = b"\"}";
const DIGITS: usize = 16;
/// Maximum number of missing lines in one place that are recognised as missing. If there are more, each
/// following line is reported as changed.
const MISSING_MAX: u64 = 1 << 16;
/// Number of line numbers that are always tried for a changed line, regardless of its length and of the
/// number of changed lines.
const TRIES_MIN: u64 = 16;
/// The cost of hashing apart from the text, expressed in bytes of text.
const BYTES_OF_TRY: u64 = 64;

/// XXH64 of the line number (from 1, little-endian) and the line's text up to the checksum.
fn sum(number: u64, text: &[u8]) -> u64 {
    let mut hasher = XxHash64::with_seed(0);
    hasher.write(&number.to_le_bytes());
    hasher.write(text);
    hasher.finish()
}

/// Adds the checksum to `line`, a JSON object without a newline.
pub(crate) fn seal(line: &mut Vec<u8>, number: u64) {
    line.pop();
    let sum = sum(number, line);
    line.extend_from_slice(BEFORE);
    line.extend_from_slice(format!("{sum:0DIGITS$x}").as_bytes());
    line.extend_from_slice(BEHIND);
}

/// Splits a line into the text up to the checksum, and the checksum.
fn parts(line: &[u8]) -> Option<(&[u8], u64)> {
    let line = line.strip_suffix(b"\n").unwrap_or(line).strip_suffix(BEHIND)?;
    let (text, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(is_digit))?;
    Some((text.strip_suffix(BEFORE)?, u64::from_str_radix(digits, 16).ok()?))
}

/// State of the line checksums of a journal that is read in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LineSums {
    /// Whether some line has a checksum, so that all lines must have one.
    summed: bool,
    /// The number that a line was written with, minus its number in the file.
    offset: i64,
    /// Number of bytes hashed in search of line numbers.
    searched: u64,
}

/// The state of a line according to its checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineState {
    /// It is unchanged.
    Whole,
    /// It is unchanged, but the lines before it are not, for this reason.
    AfterGap(String),
    /// It was changed. Contains the reason.
    Changed(&'static str),
}

impl LineSums {
    /// Checks whether the line with number `place` in the file is the one that was written there.
    pub(crate) fn check(&mut self, line: &[u8], place: u64) -> LineState {
        let Some((text, told)) = parts(line) else {
            return match self.summed {
                true => LineState::Changed("its checksum is missing"),
                false => LineState::Whole,
            };
        };
        let first = !std::mem::replace(&mut self.summed, true);
        if first && place > 1 {
            self.offset = self.find(text, told, place).unwrap_or(self.offset);
            return LineState::AfterGap(format!(
                "the {} lines before line {place} have no checksum",
                place - 1
            ));
        }
        let expected = place.checked_add_signed(self.offset);
        if expected.is_some_and(|number| sum(number, text) == told) {
            return LineState::Whole;
        }
        let Some(offset) = self.find(text, told, place) else {
            return LineState::Changed("its checksum differs");
        };
        let missing = offset - std::mem::replace(&mut self.offset, offset);
        LineState::AfterGap(match missing {
            1 => format!("a line is missing before line {place}"),
            2.. => format!("{missing} lines are missing before line {place}"),
            _ => format!("lines before line {place} were not written there"),
        })
    }

    /// The difference between the number that a line was written with and its number in the file.
    fn find(&mut self, text: &[u8], told: u64, place: u64) -> Option<i64> {
        let expected = place.saturating_add_signed(self.offset);
        let later = expected.saturating_add(1)..=expected.saturating_add(MISSING_MAX);
        // If a line repeats an earlier one, all earlier numbers are tried.
        let earlier = (expected.saturating_sub(MISSING_MAX).max(1)..expected).rev();
        let cost = BYTES_OF_TRY + text.len() as u64;
        let tries = (JOURNAL_SEARCH_BYTES.saturating_sub(self.searched) / cost).max(TRIES_MIN);
        let mut numbers = later.chain(earlier).take(usize::try_from(tries).unwrap_or(usize::MAX));
        let found = numbers.find(|number| {
            self.searched += cost;
            sum(*number, text) == told
        })?;
        i64::try_from(found).ok()?.checked_sub_unsigned(place)
    }

    /// The number of the line after `lines` lines, or `None` if lines have no checksums.
    pub(crate) fn next_number(self, lines: u64) -> Option<u64> {
        (self.summed || lines == 0).then(|| lines.saturating_add_signed(self.offset) + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use plan::limits::JOURNAL_SEARCH_BYTES;

    use super::{BYTES_OF_TRY, LineState, LineSums, TRIES_MIN, seal};

    /// A journal of `count` lines.
    fn journal(count: u64) -> Vec<Vec<u8>> {
        let line = |number: u64| {
            let mut line = format!("{{\"event\":\"e\",\"value\":{}}}", number % 3).into_bytes();
            seal(&mut line, number);
            line.push(b'\n');
            line
        };
        (1..=count).map(line).collect()
    }

    fn states(lines: &[Vec<u8>]) -> Vec<LineState> {
        let mut sums = LineSums::default();
        (1..).zip(lines).map(|(place, line)| sums.check(line, place)).collect()
    }

    #[test]
    fn many_changed_lines_cost_a_bounded_search() {
        let text = "x".repeat(1000);
        let line = format!("{{\"event\":\"{text}\",\"sum\":\"0123456789abcdef\"}}\n");
        let mut sums = LineSums::default();
        for place in 1..=100 {
            assert_eq!(sums.check(line.as_bytes(), place), LineState::Changed("its checksum differs"));
        }
        let linear = 100 * TRIES_MIN * (BYTES_OF_TRY + line.len() as u64);
        assert!(sums.searched <= JOURNAL_SEARCH_BYTES + linear, "{} bytes were hashed", sums.searched);
    }

    #[test]
    fn what_is_missing_inserted_or_without_checksum_is_told_once() {
        let told = |lines: &[Vec<u8>]| -> Vec<String> {
            let states = states(lines).into_iter();
            states.filter(|state| *state != LineState::Whole).map(|state| format!("{state:?}")).collect()
        };
        let all = journal(9);
        assert_eq!(told(&all), [""; 0]);
        assert_eq!(
            told(&[&all[..2], &all[3..]].concat()),
            [r#"AfterGap("a line is missing before line 3")"#]
        );
        assert_eq!(told(&all[3..]), [r#"AfterGap("3 lines are missing before line 1")"#]);
        let twice = [&all[..2], &all[1..]].concat();
        assert_eq!(told(&twice), [r#"AfterGap("lines before line 3 were not written there")"#]);
        let plain = [vec![b"{}\n".to_vec()], all[1..].to_vec()].concat();
        assert_eq!(told(&plain), [r#"AfterGap("the 1 lines before line 2 have no checksum")"#]);
        let inside = [all[..4].to_vec(), vec![b"{}\n".to_vec()], all[5..].to_vec()].concat();
        assert_eq!(told(&inside), [r#"Changed("its checksum is missing")"#]);
        assert_eq!(told(&vec![b"{\"event\":\"e\"}\n".to_vec(); 3]), [""; 0], "of an earlier program");
    }

    #[test]
    fn a_journal_goes_on_with_the_number_of_its_last_line() {
        let mut sums = LineSums::default();
        assert_eq!(sums.next_number(0), Some(1));
        for (place, line) in (1..).zip(&journal(5)[1..]) {
            sums.check(line, place);
        }
        assert_eq!(sums.next_number(4), Some(6), "a line is missing, and that is told once");
        assert_eq!(LineSums::default().next_number(4), None);
    }

    proptest! {
        #[test]
        fn each_changed_byte_is_told(line in 0..9_usize, at in any::<usize>(), bit in 0..8_u32) {
            let mut lines = journal(9);
            let length = lines[line].len() - 1;
            lines[line][at % length] ^= 1_u8 << bit;
            let states = states(&lines);
            prop_assert!(states[line] != LineState::Whole || line == 0, "{states:?}");
            prop_assert!(states.iter().any(|state| *state != LineState::Whole), "{states:?}");
        }

        #[test]
        fn no_bytes_make_it_panic(lines in vec(vec(any::<u8>(), 0..40), 0..5)) {
            prop_assert_eq!(states(&lines).len(), lines.len());
        }
    }
}
