//! The report page: one file that opens in any browser without network access.
//!
//! Tables come from a template, charts from plotly.js, which is embedded exactly once, compressed, and is
//! unpacked by the browser. A content security policy in the head of the page forbids every request, so that
//! the browser itself enforces "no network".

mod charts;
mod context;
mod section;

use std::io::{self, Write};

use record::Run;

use self::charts::Chart;
pub(crate) use self::charts::over_time;

use crate::report::Report;
use crate::section::Second;
use crate::section::{Block, Section};

/// The charts' library; `third-party/README.md` says where it is from.
const LIBRARY: &[u8] = include_bytes!("../../../third-party/plotly-cartesian-2.35.3.min.js.gz");

/// The page of `run`, written to `out`; `second` is another run of the same study, for comparison.
///
/// # Errors
/// Writing to `out` failed.
pub(crate) fn html(
    run: &Run,
    report: &Report,
    second: Option<&Second>,
    out: &mut impl Write,
) -> io::Result<()> {
    let page = context::page(run, report, second).map_err(io::Error::other)?;
    out.write_all(page.as_bytes())?;
    scripts(out)
}

/// A page with `blocks` and `charts`, written to `out`.
///
/// # Errors
/// Writing to `out` failed.
pub(crate) fn charted(
    title: &str,
    blocks: &[Block],
    charts: Vec<Chart>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = context::charted(title, blocks, charts).map_err(io::Error::other)?;
    out.write_all(page.as_bytes())?;
    scripts(out)
}

/// The end of a page: the scripts that draw its charts.
fn scripts(out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    out.write_all(b"<script>")?;
    out.write_all(include_bytes!("page.js"))?;
    // The library comes last, so that the page can be read before it has loaded.
    out.write_all(b"</script>\n<script type=\"application/gzip\" id=\"library\">")?;
    out.write_all(base64(LIBRARY).as_bytes())?;
    out.write_all(b"</script>\n</body>\n</html>\n")
}

/// A section as a page of its own.
pub(crate) fn section_alone(title: &str, section: &Section) -> String {
    context::alone(title, section).expect("the template of the program takes every section")
}

/// Bytes as base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, at| word << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { digit.into() } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::{LIBRARY, base64};

    #[test]
    fn the_library_is_the_one_that_is_written_down() {
        let sum = plan::hex(&Sha256::digest(LIBRARY));
        assert!(include_str!("../../../third-party/README.md").contains(&sum), "{sum}");
    }

    #[test]
    fn bytes_are_written_as_the_standard_says() {
        for (bytes, written) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), written);
        }
    }
}
