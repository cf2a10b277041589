//! Decodes request events according to the layout that the kernel provides.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::activity::trace::pages::{word32, word64};
use crate::file_systems::mounts::DeviceNumber;

/// A request was passed to a driver.
pub(super) const ISSUE: &str = "block_rq_issue";
/// A driver completed a request or a part of it.
pub(super) const COMPLETE: &str = "block_rq_complete";
/// Buffer size for the text of a layout, which is a few hundred bytes long.
const TEXT_BYTES: usize = 64 << 10;
/// Number of bits of the minor number within the kernel (`include/linux/kdev_t.h`).
const MINOR_BITS: u32 = 20;

/// A device's number in the kernel's internal format.
pub(super) fn kernel_number(number: DeviceNumber) -> u32 {
    number.major << MINOR_BITS | number.minor
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) at_ns: u64,
    pub(super) completes: bool,
    pub(super) device: u32,
    pub(super) sector: u64,
    pub(super) sectors: u32,
    pub(super) writes: bool,
}

/// The positions of the fields of both events, and the length of a page's header.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) page_head: usize,
    issue: Fields,
    complete: Fields,
}

#[derive(Debug)]
struct Fields {
    id: u16,
    device: usize,
    sector: usize,
    sectors: usize,
    flags: usize,
}

impl Layout {
    /// Reads the layout from the files of `instance`.
    pub(super) fn read(instance: &Path) -> Result<Self, String> {
        let text = |file: &str| {
            // Files that are common to all instances exist only in the top directory.
            let paths = [instance.join(file), instance.join("../..").join(file)];
            let found = paths.iter().find_map(|path| whole(path).ok());
            found.ok_or_else(|| format!("{} cannot be read", instance.join(file).display()))
        };
        let fields = |event: &str| {
            let text = text(&format!("events/block/{event}/format"))?;
            Fields::parse(&text).ok_or_else(|| format!("the layout of {event} is unknown"))
        };
        let page = text("events/header_page")?;
        let page_head = offset(&page, "data").ok_or("the layout of trace pages is unknown")?;
        Ok(Self { page_head, issue: fields(ISSUE)?, complete: fields(COMPLETE)? })
    }

    /// Decodes the event in `entry`, if it is about a request with data.
    pub(super) fn event(&self, at_ns: u64, entry: &[u8]) -> Option<Event> {
        let id = u16::from_ne_bytes(*entry.first_chunk()?);
        let (fields, completes) = match id {
            id if id == self.issue.id => (&self.issue, false),
            id if id == self.complete.id => (&self.complete, true),
            _ => return None,
        };
        let sectors = word32(entry, fields.sectors)?;
        let flags = entry.get(fields.flags..)?;
        // `FWS` is a write with a flush before it.
        let flags = flags.strip_prefix(b"F").unwrap_or(flags);
        let writes = match flags.first()? {
            b'W' => true,
            b'R' => false,
            _ => return None,
        };
        (sectors > 0).then_some(Event {
            at_ns,
            completes,
            device: word32(entry, fields.device)?,
            sector: word64(entry, fields.sector)?,
            sectors,
            writes,
        })
    }
}

impl Fields {
    fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        Some(Self {
            id,
            device: offset(text, "dev")?,
            sector: offset(text, "sector")?,
            sectors: offset(text, "nr_sector")?,
            flags: offset(text, "rwbs")?,
        })
    }
}

/// The text of a file. Some tracefs files must be read in one call, because the rest is lost after a
/// short read.
fn whole(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; TEXT_BYTES];
    let length = file.read(&mut bytes)?;
    bytes.truncate(length);
    file.read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The offset of field `name`, taken from a line such as `field:char rwbs[10]; offset:34; size:10;`,
/// which is separated by tabs.
fn offset(text: &str, name: &str) -> Option<usize> {
    text.lines().find_map(|line| {
        let (declared, rest) = line.trim().strip_prefix("field:")?.split_once(';')?;
        let word = declared.split_whitespace().last()?;
        let word = word.split('[').next()?;
        if word != name {
            return None;
        }
        rest.trim().strip_prefix("offset:")?.split(';').next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::{Fields, offset};

    const FORMAT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";

    #[test]
    fn the_layout_is_read_from_the_kernel_s_words() {
        let fields = Fields::parse(FORMAT).expect("known");
        assert_eq!((fields.id, fields.device, fields.sector), (2104, 8, 16));
        assert_eq!((fields.sectors, fields.flags), (24, 34));
        assert_eq!(offset(FORMAT, "cmd"), None);
        let page = "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
            \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
        assert_eq!(offset(page, "data"), Some(16));
    }
}
