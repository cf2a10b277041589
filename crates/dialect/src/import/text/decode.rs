//! Converts bytes to text.

use std::borrow::Cow;

/// The text of `bytes`: UTF-8, or UTF-16 if they begin with its byte order mark, as when some systems redirect
/// output. Other bytes become U+FFFD, which no tool prints.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes).into(),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes).into(),
        bytes => String::from_utf8_lossy(bytes),
    }
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn marks_of_an_encoding_are_no_part_of_the_text() {
        assert_eq!(text("\u{feff}IOR-4".as_bytes()), "IOR-4");
        let wide =
            |bytes: fn(u16) -> [u8; 2]| "\u{feff}µs 1\n".encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        assert_eq!(text(&wide(u16::to_le_bytes)), "µs 1\n");
        assert_eq!(text(&wide(u16::to_be_bytes)), "µs 1\n");
        assert_eq!(text(&[b'a', 0xff]), "a\u{fffd}");
    }
}
