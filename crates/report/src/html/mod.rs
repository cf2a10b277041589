//! The report page: one file that opens in any browser with no network.
//!
//! Tables come from a template, charts from plotly.js, which stands in the page exactly once. A
//! policy in the head of the page forbids every request, so that "no network" holds by the
//! browser's own rule.

mod charts;
mod context;
mod section;

use std::io::{self, Write};

use record::Run;

use crate::report::Report;
use crate::section::Second;
use crate::section::Section;

/// The page of `run`, written to `out`; `second` is another run of the same study, drawn beside it.
///
/// # Errors
/// `out` refuses.
pub(crate) fn html(
    run: &Run,
    report: &Report,
    second: Option<&Second>,
    out: &mut impl Write,
) -> io::Result<()> {
    let page = context::page(run, report, second).map_err(io::Error::other)?;
    out.write_all(page.as_bytes())?;
    out.write_all(b"<script>")?;
    out.write_all(plotly_source().as_bytes())?;
    out.write_all(b"</script>\n<script>")?;
    out.write_all(include_bytes!("page.js"))?;
    out.write_all(b"</script>\n</body>\n</html>\n")
}

/// A section as a page of its own.
pub(crate) fn section_alone(title: &str, section: &Section) -> String {
    context::alone(title, section).expect("the template of the program takes every section")
}

/// plotly.js alone. The crate gives it together with MathJax, which would add 2 MB for formulas
/// that no chart has, and would be able to load fonts.
fn plotly_source() -> String {
    let both = plotly::Plot::offline_js_sources();
    let first = both.split_once('>').map_or("", |(_, rest)| rest);
    first.split_once("</script>").map_or("", |(source, _)| source).to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_has_plotly_and_not_mathjax() {
        let source = super::plotly_source();
        assert!(source.trim_start().starts_with("/**\n* plotly.js v"), "{}", &source[..80]);
        assert!(source.ends_with("return Plotly;\n}));") || source.trim_end().ends_with("}));"));
        assert!((4_000_000..6_000_000).contains(&source.len()), "{} bytes", source.len());
    }
}
