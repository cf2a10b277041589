//! JSON that is long because of some arrays in it, read an element of these arrays at a time.

use std::io::{self, Read};

use super::json::line_feeds;

/// Number of bytes that are read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// An object in one of the arrays.
pub(crate) struct Element<'a> {
    /// Which of the consecutive values contains it, from 0.
    pub(crate) root: usize,
    /// The name of its array.
    pub(crate) array: &'static str,
    /// The line on which it starts.
    pub(crate) line: u32,
    pub(crate) text: &'a str,
}

/// Reads `input`, whose first value starts at byte `start`, and passes each object in the `arrays` of the outermost
/// objects to `take`. Returns the text with empty objects in their places, which take as many lines. An object that
/// does not end stays in the text, and so does what follows the last of the consecutive values.
///
/// # Errors
/// Returns the first error of `take`, or that of `input` as `unreadable`.
pub(crate) fn without_elements<E>(
    input: &mut dyn Read,
    start: usize,
    arrays: &'static [&'static str],
    mut take: impl FnMut(Element<'_>) -> Result<(), E>,
    unreadable: impl Fn(io::Error) -> E,
) -> Result<String, E> {
    let mut splitter = Splitter::new(start, arrays);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match input.read(&mut block) {
            Ok(0) => return Ok(splitter.finish()),
            Ok(length) => splitter.add(&block[..length], &mut take)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}

/// The state between two blocks.
struct Splitter {
    arrays: &'static [&'static str],
    /// Number of bytes before the first value that are still to come.
    before: usize,
    kept: Vec<u8>,
    /// The array of the object that has begun, and its text.
    open: Option<&'static str>,
    element: Vec<u8>,
    /// The array that is read now, if it is one of `arrays`.
    array: Option<&'static str>,
    /// The last text in the outermost object.
    key: Vec<u8>,
    /// Number of objects and arrays that are open.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Number of values that have ended.
    roots: usize,
    /// Whether there are no further values.
    is_over: bool,
    /// The line that is read now.
    line: u32,
}

impl Splitter {
    fn new(before: usize, arrays: &'static [&'static str]) -> Self {
        Self {
            arrays,
            before,
            kept: Vec::new(),
            open: None,
            element: Vec::new(),
            array: None,
            key: Vec::new(),
            depth: 0,
            in_string: false,
            is_escaped: false,
            roots: 0,
            is_over: false,
            line: 1,
        }
    }

    fn add<E>(&mut self, block: &[u8], take: &mut impl FnMut(Element<'_>) -> Result<(), E>) -> Result<(), E> {
        let (before, mut rest) = block.split_at(self.before.min(block.len()));
        self.before -= before.len();
        self.keep(before);
        while !rest.is_empty() {
            let Some(array) = self.open else {
                let start = if self.is_over { None } else { self.start_of_element(rest) };
                let (kept, next) = rest.split_at(start.unwrap_or(rest.len()));
                self.keep(kept);
                self.open = self.array.filter(|_| start.is_some());
                rest = next;
                continue;
            };
            let end = self.end_of_element(rest);
            let (part, next) = rest.split_at(end.unwrap_or(rest.len()));
            self.element.extend_from_slice(part);
            rest = next;
            if end.is_some() {
                let text = String::from_utf8_lossy(&self.element);
                take(Element { root: self.roots, array, line: self.line, text: &text })?;
                let lines = line_feeds(&self.element);
                self.line += lines;
                self.kept.push(b'{');
                self.kept.extend(std::iter::repeat_n(b'\n', lines as usize));
                self.kept.push(b'}');
                self.element.clear();
                self.open = None;
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.line += line_feeds(bytes);
        self.kept.extend_from_slice(bytes);
    }

    /// The number of bytes before the next object in one of the arrays.
    fn start_of_element(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                let ends = self.goes_on(byte);
                if self.depth == 1 && !ends {
                    self.key.push(byte);
                }
                continue;
            }
            match byte {
                b'{' if self.depth == 2 && self.array.is_some() => return Some(at),
                b'{' | b'[' => {
                    self.depth += 1;
                    let is_it = |name: &&&str| name.as_bytes() == self.key;
                    self.array = match (byte, self.depth) {
                        (b'[', 2) => self.arrays.iter().find(is_it).copied(),
                        (_, 1 | 2) => None,
                        _ => self.array,
                    };
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.roots += usize::from(self.depth == 0);
                }
                _ if self.depth == 0 && !byte.is_ascii_whitespace() => {
                    self.is_over = true;
                    return None;
                }
                b'"' => {
                    self.in_string = true;
                    if self.depth == 1 {
                        self.key.clear();
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The number of bytes up to the end of the object that has begun.
    fn end_of_element(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                self.goes_on(byte);
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 2 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// One more byte of a string. Returns whether the string ends with it.
    fn goes_on(&mut self, byte: u8) -> bool {
        self.in_string = byte != b'"' || self.is_escaped;
        self.is_escaped = byte == b'\\' && !self.is_escaped;
        !self.in_string
    }

    fn finish(mut self) -> String {
        self.kept.append(&mut self.element);
        match String::from_utf8(self.kept) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::*;

    use super::{Element, without_elements};

    /// A reader that returns `size` bytes at once.
    struct Slow<'a>(&'a [u8], usize);

    impl io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    /// The text that is left, and the elements with the number of their value, their array and their line.
    fn split(text: &str, start: usize, size: usize) -> (String, Vec<(usize, &'static str, u32, String)>) {
        let mut found = Vec::new();
        let take = |one: Element<'_>| {
            found.push((one.root, one.array, one.line, one.text.to_owned()));
            Ok(())
        };
        let mut input = Slow(text.as_bytes(), size);
        let left = without_elements(&mut input, start, &["jobs", "parts"], take, |error| error);
        (left.expect("nothing fails"), found)
    }

    #[test]
    fn elements_are_those_of_the_named_arrays_of_each_value() {
        let text = "fio: \"warns [\n{ \"a\": [{\"x\": 1}], \"jobs\":\n[ {\"n\": \"}\\\"\",\n \"b\": [{}]}, 5, {}],\n\
                    \"c\": {\"jobs\": [{}]} }\n{\"parts\" : [{\"jobs\": []}]}\n[{\"jobs\": [{}]} and the rest {";
        let start = text.find('{').expect("a value");
        for size in 1..text.len() {
            let (left, found) = split(text, start, size);
            let of = |root, array, line, text: &str| (root, array, line, text.to_owned());
            let wanted = [
                of(0, "jobs", 3, "{\"n\": \"}\\\"\",\n \"b\": [{}]}"),
                of(0, "jobs", 4, "{}"),
                of(1, "parts", 6, "{\"jobs\": []}"),
            ];
            assert_eq!(found, wanted);
            let (before, after) = left.split_once("5, {}]").expect("the number");
            assert_eq!(before, "fio: \"warns [\n{ \"a\": [{\"x\": 1}], \"jobs\":\n[ {\n}, ");
            assert!(after.ends_with("{\"parts\" : [{}]}\n[{\"jobs\": [{}]} and the rest {"), "{after}");
        }
    }

    #[test]
    fn an_element_that_is_cut_off_stays() {
        let (left, found) = split("{\"jobs\": [{\"a\": 1}, {\"b\": \"", 0, 7);
        assert_eq!((left.as_str(), found.len()), ("{\"jobs\": [{}, {\"b\": \"", 1));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            text in "[\\[\\]{}\",:\\\\ \nj0-9]{0,40}",
            size in 1_usize..9,
            is_job in any::<bool>(),
        ) {
            let text = if is_job { format!("{{\"jobs\": [{text}") } else { text };
            let (left, found) = split(&text, 0, size);
            let lines = |text: &str| text.matches('\n').count();
            prop_assert_eq!(lines(&left), lines(&text));
            let taken: usize = found.iter().map(|(.., text)| text.len() - 2 - lines(text)).sum();
            prop_assert_eq!(left.len() + taken, text.len());
        }
    }
}
