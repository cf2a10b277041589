//! The pages of the kernel's trace buffer, as described in `include/linux/ring_buffer.h`, and in the
//! tracer's files `events/header_page` and `events/header_event`.

/// Largest page of the buffer (`buffer_subbuf_size_kb`).
pub(super) const PAGE_BYTES_MAX: usize = 1 << 20;

/// Mask in the second word of a page: number of bytes used by entries.
const COMMIT: u64 = (1 << 20) - 1;
/// Kinds of entries that contain no event.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Number of bits of the time between two entries.
const DELTA_BITS: u32 = 27;

/// Passes the time and the bytes of each event in `page` to `take`. The entries start after a header of
/// `head` bytes. An invalid entry ends the page.
pub(super) fn entries(page: &[u8], head: usize, mut take: impl FnMut(u64, &[u8])) {
    let Some((time, commit)) = word64(page, 0).zip(word64(page, 8)) else { return };
    let length = usize::try_from(commit & COMMIT).unwrap_or(0);
    let Some(mut rest) = page.get(head..).map(|rest| &rest[..length.min(rest.len())]) else { return };
    let mut at_ns = time;
    while let Some(word) = word32(rest, 0) {
        let (kind, delta) = (word & 0x1f, u64::from(word >> 5));
        let second = word32(rest, 4);
        let (data_start, data_length) = match (kind, second) {
            (PADDING, _) if delta == 0 => return,
            (PADDING, Some(skipped)) => {
                at_ns += delta;
                // The length follows the header word and includes itself.
                (4_usize, usize::try_from(skipped).unwrap_or(usize::MAX))
            }
            (TIME_EXTEND, Some(high)) => {
                at_ns += (u64::from(high) << DELTA_BITS) + delta;
                (4, 4)
            }
            (TIME_STAMP, Some(high)) => {
                // The five highest bits do not fit into the entry, so they are taken from the previous
                // time.
                const KEPT: u64 = 0x1f << 59;
                at_ns = (at_ns & KEPT) | ((u64::from(high) << DELTA_BITS) + delta);
                (4, 4)
            }
            (0, Some(long)) => {
                at_ns += delta;
                (8, usize::try_from(long).unwrap_or(usize::MAX).saturating_sub(4))
            }
            (1..PADDING, _) => {
                at_ns += delta;
                (4, kind as usize * 4)
            }
            _ => return,
        };
        let Some(data) = rest.get(data_start..data_start.saturating_add(data_length)) else { return };
        if kind < PADDING {
            take(at_ns, data);
        }
        let next = (data_start + data_length).next_multiple_of(4);
        let Some(after) = rest.get(next..) else { return };
        rest = after;
    }
}

pub(super) fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn word64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::{TIME_EXTEND, TIME_STAMP, entries};

    fn page(time: u64, words: &[u32]) -> Vec<u8> {
        let mut page = time.to_ne_bytes().to_vec();
        page.extend(((words.len() as u64 * 4) | (1 << 31)).to_ne_bytes());
        page.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        page
    }

    fn read(page: &[u8]) -> Vec<(u64, usize)> {
        let mut found = Vec::new();
        entries(page, 16, |at_ns, data| found.push((at_ns, data.len())));
        found
    }

    #[test]
    fn times_and_lengths_are_those_of_the_format() {
        let head = |kind: u32, delta: u32| kind | delta << 5;
        let words = [
            head(2, 5),
            1,
            2,
            // 3 << 27 and 7 later, then an event of 8 bytes whose length does not fit into its head.
            head(TIME_EXTEND, 7),
            3,
            head(0, 1),
            12,
            9,
            9,
            // A discarded event.
            head(29, 2),
            8,
            0,
            head(1, 4),
            0,
            head(TIME_STAMP, 1),
            1 << 5,
            head(1, 0),
            0,
            head(29, 0),
            0,
        ];
        let late = 1_000 + 5 + (3 << 27) + 7 + 1;
        let stamp = (1 << 32) + 1;
        assert_eq!(read(&page(1_000, &words)), [(1_005, 8), (late, 8), (late + 6, 4), (stamp, 4)]);
    }

    #[test]
    fn what_is_cut_short_ends_the_page() {
        let whole = page(1, &[1 | 1 << 5, 7, 28 | 1 << 5]);
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).len() <= 1, "{length}");
        }
        assert_eq!(read(&whole), [(2, 4)], "the second one is not all there");
    }
}
