//! The content of one file, and every output in it.

use std::borrow::Cow;
use std::io::{Read, Take};

use plan::limits::{LABELLED_BYTES, PRINTED_BYTES, PRINTED_OUTPUTS};

use super::draft::Draft;
use super::error::ImportError;
use super::importer::{Importer, ReadOutput, Whole};
use super::registry::{self, Format};
use super::text::{decode, prefixes};

/// Number of bytes that tell whether a file is read in parts: some lines of messages, and the beginning of the JSON.
const HEAD_BYTES: u64 = 64 << 10;

/// The content of a file, of which one byte more than is allowed is read.
pub(super) struct Content<'a> {
    file: &'a str,
    input: Take<&'a mut dyn Read>,
}

impl<'a> Content<'a> {
    pub(super) fn new(file: &'a str, input: &'a mut dyn Read) -> Self {
        Self { file, input: input.take(PRINTED_BYTES + 1) }
    }

    /// All bytes.
    pub(super) fn whole(mut self) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::new();
        self.read(u64::MAX, &mut bytes).map(|()| bytes)
    }

    /// Adds at most `most` further bytes to `bytes`.
    fn read(&mut self, most: u64, bytes: &mut Vec<u8>) -> Result<(), ImportError> {
        (&mut self.input).take(most).read_to_end(bytes).map_err(ImportError::unreadable(self.file))?;
        self.check_length()
    }

    fn check_length(&self) -> Result<(), ImportError> {
        match self.input.limit() {
            0 => Err(ImportError::TooLong { file: self.file.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Every output. Its lines may have prefixes of a launcher.
    pub(super) fn outputs(mut self, format: Option<Format>) -> Result<Vec<ReadOutput>, ImportError> {
        let wanted = format.map(|format| format.0);
        let mut bytes = Vec::new();
        self.read(HEAD_BYTES, &mut bytes)?;
        if let Some((importer, start)) = registry::in_parts(&bytes, wanted) {
            let found = importer.read_parts(self.file, start, &mut bytes.chain(&mut self.input));
            self.check_length()?;
            return Ok(vec![(importer, alone(self.file, importer, found?)?)]);
        }
        self.read(u64::MAX, &mut bytes)?;
        let lossy = decode::text(&bytes);
        if lossy.len() as u64 > LABELLED_BYTES && prefixes::has(&lossy) {
            return Err(ImportError::Unusable {
                file: self.file.to_owned(),
                line: 1,
                what: format!(
                    "labels or times stand before the lines of more than {}",
                    plan::Bytes(LABELLED_BYTES)
                ),
                next: "remove them, or split the file into smaller ones".to_owned(),
            });
        }
        // A tool's own lines may begin like that, too.
        let without = prefixes::without(&lossy).map(|plain| in_text(self.file, &plain, wanted));
        let outputs = match without {
            Some(Ok(outputs)) if !outputs.is_empty() => outputs,
            without => match (in_text(self.file, &lossy, wanted)?, without) {
                (found, Some(Err(error))) if found.is_empty() => return Err(error),
                (found, _) => found,
            },
        };
        if outputs.is_empty() {
            let file = self.file.to_owned();
            return Err(match format {
                Some(format) => ImportError::NotOf { file, format: format.name() },
                None => ImportError::Unknown { file, known: registry::names() },
            });
        }
        Ok(outputs)
    }
}

/// Every output in `text`, the content of `file`.
fn in_text(
    file: &str,
    text: &str,
    wanted: Option<&'static Importer>,
) -> Result<Vec<ReadOutput>, ImportError> {
    if let Some(importer) = registry::whole(text, wanted) {
        let draft = alone(file, importer, importer.read_whole(file, text)?)?;
        return Ok(vec![(importer, draft)]);
    }
    // A page in Markdown escapes characters that have a special meaning.
    let plain: Cow<'_, str> = match text.contains("\\$") || text.contains("\\*") {
        true => text.replace("\\$", "$").replace("\\*", "*").into(),
        false => text.into(),
    };
    let blocks = registry::blocks(&plain, wanted).map_err(|line| ImportError::Unusable {
        file: file.to_owned(),
        line,
        what: format!("more than {PRINTED_OUTPUTS} outputs begin before this line"),
        next: "split the file into smaller ones and import these".to_owned(),
    })?;
    let read = |(importer, first, text): (&'static Importer, u32, &str)| {
        Ok((importer, importer.read_lines(file, text, first)?))
    };
    blocks.into_iter().map(read).collect()
}

/// The draft of a file, unless it contains another output.
fn alone(file: &str, importer: &Importer, whole: Whole<'_>) -> Result<Draft, ImportError> {
    match registry::other_output(&whole.text, importer) {
        None => Ok(whole.draft),
        Some(line) => Err(ImportError::Unusable {
            file: file.to_owned(),
            line,
            what: format!("another output begins here, in the same file as one of {}", importer.name),
            next: "put each of them in its own file".to_owned(),
        }),
    }
}
