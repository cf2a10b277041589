//! Alignment of a local file system to its device.

use std::path::Path;

use record::Fact;

use super::Findings;

/// Stripe unit and stripe width of XFS in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stripe {
    unit_bytes: u64,
    width_bytes: u64,
}

impl Findings<'_> {
    /// Compares the output of `xfs_info` with the options of `mkfs.xfs`, or with the geometry of the
    /// volume below.
    pub(super) fn xfs(&mut self, place: &Path, make_options: &[String], below: Option<(u64, usize)>) {
        let below = below.map(|(unit_bytes, members)| Stripe {
            unit_bytes,
            width_bytes: unit_bytes.saturating_mul(members as u64),
        });
        let wanted = asked(make_options).or(below);
        let shown = Self::ask(&["xfs_info", &place.to_string_lossy()]);
        let stripe = shown
            .and_then(|text| Fact::of(read(&text), || "xfs_info prints it in an unknown format".to_owned()));
        let found = |value: fn(&Stripe) -> u64| stripe.clone().map(|stripe| value(&stripe).to_string());
        let mut told = |property: &str, value: fn(&Stripe) -> u64| {
            let wanted = wanted.map(|stripe| value(&stripe).to_string());
            self.add(place.display(), property, wanted, found(value), "xfs_info");
        };
        told("stripe unit, bytes", |stripe| stripe.unit_bytes);
        told("stripe width, bytes", |stripe| stripe.width_bytes);
    }
}

/// The stripe requested with `su=` and `sw=` (mkfs.xfs(8)).
fn asked(options: &[String]) -> Option<Stripe> {
    let value =
        |key: &str| options.iter().flat_map(|word| word.split(',')).find_map(|part| part.strip_prefix(key));
    let unit_bytes = bytes(value("su=")?)?;
    let width: u64 = value("sw=")?.parse().ok()?;
    Some(Stripe { unit_bytes, width_bytes: unit_bytes.checked_mul(width)? })
}

/// Parses a size in the format of `mkfs.xfs`.
fn bytes(text: &str) -> Option<u64> {
    let (number, shift) = match text.char_indices().last()? {
        (end, 'k' | 'K') => (&text[..end], 10),
        (end, 'm' | 'M') => (&text[..end], 20),
        (end, 'g' | 'G') => (&text[..end], 30),
        _ => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses the data section of `xfs_info`, which gives the stripe in blocks.
fn read(text: &str) -> Option<Stripe> {
    let data = text.split("\ndata ").nth(1)?.split("\nnaming").next()?;
    let value = |key: &str| {
        let words = data.split([' ', ',', '\n', '=']).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        words.windows(2).find(|pair| pair[0] == key)?[1].parse::<u64>().ok()
    };
    let block = value("bsize")?;
    Some(Stripe {
        unit_bytes: value("sunit")?.checked_mul(block)?,
        width_bytes: value("swidth")?.checked_mul(block)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Stripe, asked, read};

    const SHOWN: &str = "\
meta-data=/dev/loop0             isize=512    agcount=8, agsize=22400 blks
         =                       sectsz=512   attr=2, projid32bit=1
data     =                       bsize=4096   blocks=179200, imaxpct=25
         =                       sunit=32     swidth=384 blks
naming   =version 2              bsize=8192   ascii-ci=0, ftype=1
log      =internal log           bsize=4096   blocks=16384, version=2
         =                       sectsz=512   sunit=1 blks, lazy-count=1
";

    #[test]
    fn the_stripe_is_that_of_the_data() {
        let stripe = Stripe { unit_bytes: 128 << 10, width_bytes: 12 * (128 << 10) };
        assert_eq!(read(SHOWN), Some(stripe));
        assert_eq!(read("xfs_info: command not found"), None);
    }

    #[test]
    fn what_mkfs_is_told_is_read_in_its_units() {
        let options =
            |words: &[&str]| asked(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let stripe = |unit_bytes, width| Some(Stripe { unit_bytes, width_bytes: unit_bytes * width });
        assert_eq!(options(&["-f", "-d", "su=128k,sw=1"]), stripe(128 << 10, 1));
        assert_eq!(options(&["-d", "agcount=4,sw=3,su=1m"]), stripe(1 << 20, 3));
        assert_eq!(options(&["-dsu=65536,sw=2"]), None, "glued to its option it is not seen");
        assert_eq!(options(&["-d", "su=128k"]), None);
    }
}
