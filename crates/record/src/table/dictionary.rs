//! Reads columns with few distinct texts as indices into their dictionary. A histogram of millions of buckets
//! repeats a few words, and allocating each repetition would take most of the time.
//!
//! The layout is that of the Parquet format, "Data Pages" and "RLE/bit-packing hybrid"
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>).

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};

use crate::table::values::Values;

/// The `count` values of a column without nulls, or `None` if a page has a different encoding.
pub(crate) fn read(mut pages: Box<dyn PageReader>, count: usize) -> Result<Option<Values>, String> {
    let mut words = Vec::new();
    let mut places = Vec::with_capacity(count);
    while places.len() < count {
        match pages.get_next_page().map_err(|error| error.to_string())? {
            Some(Page::DictionaryPage { buf, num_values, .. }) => {
                words = texts(&buf, num_values).ok_or("its dictionary is incomplete")?;
            }
            Some(Page::DataPage { buf, num_values, encoding, .. }) => {
                if !matches!(encoding, Encoding::RLE_DICTIONARY | PLAIN_DICTIONARY) {
                    return Ok(None);
                }
                let wanted = (num_values as usize).min(count - places.len());
                if wanted == 0 {
                    return Err("a page has no values".to_owned());
                }
                unpack(&buf, wanted, &mut places).ok_or("one of its pages is incomplete")?;
            }
            Some(Page::DataPageV2 { .. }) => return Ok(None),
            None => return Err(format!("{} of {count} values could be read", places.len())),
        }
    }
    Ok(Some(Values::Texts { words, places }))
}

/// The name of the same encoding in older files.
const PLAIN_DICTIONARY: Encoding = Encoding::PLAIN_DICTIONARY;

/// The texts of a dictionary. Each is preceded by its length in four bytes.
fn texts(mut bytes: &[u8], count: u32) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        texts.push(std::str::from_utf8(text).ok()?.to_owned());
        bytes = rest;
    }
    Some(texts)
}

/// Appends `wanted` indices, which are encoded as runs of one index and as groups of eight that are
/// bit-packed.
fn unpack(bytes: &[u8], wanted: usize, places: &mut Vec<u32>) -> Option<()> {
    let (&width, mut bytes) = bytes.split_first()?;
    let width = usize::from(width);
    if width > 32 {
        return None;
    }
    let end = places.len() + wanted;
    while places.len() < end {
        let (header, rest) = varint(bytes)?;
        let left = end - places.len();
        if header & 1 == 0 {
            let (value, rest) = rest.split_at_checked(width.div_ceil(8))?;
            let value = value.iter().rev().fold(0_u32, |value, &byte| value << 8 | u32::from(byte));
            let run = usize::try_from(header >> 1).ok()?.min(left);
            if run == 0 {
                return None;
            }
            places.resize(places.len() + run, value);
            bytes = rest;
        } else {
            let packed = usize::try_from(header >> 1).ok()?.checked_mul(width)?;
            let (packed, rest) = rest.split_at_checked(packed)?;
            let held = (packed.len() * 8).checked_div(width).unwrap_or(left);
            if held == 0 {
                return None;
            }
            places.extend((0..held.min(left)).map(|index| bits(packed, index * width, width)));
            bytes = rest;
        }
    }
    Some(())
}

/// Reads `width` bits of `bytes` from bit `start` on, the lowest first.
fn bits(bytes: &[u8], start: usize, width: usize) -> u32 {
    (0..width).fold(0, |value, bit| {
        let at = start + bit;
        value | u32::from(bytes[at / 8] >> (at % 8) & 1) << bit
    })
}

/// Parses a number encoded in groups of seven bits, the lowest first.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn runs_and_packed_groups_are_read() {
        let mut places = Vec::new();
        // Width 3; a run of 5 times 4; one packed group: 0 to 7, as in the example of the format.
        let bytes = [3, 5 << 1, 4, 1 << 1 | 1, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(unpack(&bytes, 12, &mut places), Some(()));
        assert_eq!(places, [4, 4, 4, 4, 4, 0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        for bytes in [&[][..], &[3], &[3, 10], &[3, 3, 1], &[33, 2, 0], &[1, 0, 0], &[0, 0]] {
            assert_eq!(unpack(bytes, 4, &mut Vec::new()), None, "{bytes:?}");
        }
    }
}
