//! Striping of files in a Lustre directory, from `lfs getstripe`.

use std::path::Path;

use plan::Bytes;
use record::Fact;

use super::Findings;

/// The striping of a file, or that of new files in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Stripes {
    count: Option<i64>,
    size_bytes: Option<u64>,
    /// The first target; -1 means any.
    first: Option<i64>,
    /// The targets of a file in the order of its stripes; empty for a directory.
    targets: Vec<u32>,
}

impl Findings<'_> {
    /// Checks the striping of new files in `directory`.
    pub(super) fn lustre(&mut self, directory: &Path, count: u32, first: Option<u32>, stripe: Option<Bytes>) {
        let shown = Self::ask(&["lfs", "getstripe", "-d", &directory.to_string_lossy()]);
        let stripes = match &shown {
            Fact::Known(text) => Ok(read(text)),
            Fact::Unknown(reason) => Err(reason.clone()),
        };
        let found = |value: fn(&Stripes) -> Option<String>| match &stripes {
            Ok(stripes) => match value(stripes) {
                Some(value) => Fact::Known(value),
                None => Fact::Unknown("lfs getstripe prints it in an unknown format".to_owned()),
            },
            Err(reason) => Fact::Unknown(reason.clone()),
        };
        let counted = found(|stripes| stripes.count.map(|count| count.to_string()));
        self.add(directory.display(), "stripe count", Some(count.to_string()), counted, "lfs getstripe");
        let begins = found(|stripes| stripes.first.map(|first| first.to_string()));
        let wanted = first.map(|first| first.to_string());
        self.add(directory.display(), "first target", wanted, begins, "lfs getstripe");
        let size = found(|stripes| stripes.size_bytes.map(|size| size.to_string()));
        let wanted = stripe.map(|stripe| stripe.get().to_string());
        self.add(directory.display(), "stripe, bytes", wanted, size, "lfs getstripe");
    }
}

/// Parses the output of `lfs getstripe` (lfs-getstripe(1)). For a directory it has `stripe_count: 4 stripe_size:
/// …` in one line; for a file it has lines such as `lmm_stripe_count: 4`, followed by a table that begins with
/// `obdidx`.
fn read(text: &str) -> Stripes {
    let mut stripes = Stripes::default();
    let words: Vec<&str> = text.split_whitespace().collect();
    for pair in words.windows(2) {
        let Some(key) = pair[0].strip_suffix(':') else { continue };
        match key.strip_prefix("lmm_").unwrap_or(key) {
            "stripe_count" => stripes.count = pair[1].parse().ok(),
            "stripe_size" => stripes.size_bytes = pair[1].parse().ok(),
            "stripe_offset" => stripes.first = pair[1].parse().ok(),
            _ => {}
        }
    }
    let table = text.lines().skip_while(|line| !line.trim_start().starts_with("obdidx")).skip(1);
    stripes.targets = table.map_while(|line| line.split_whitespace().next()?.parse().ok()).collect();
    stripes
}

#[cfg(test)]
mod tests {
    use super::{Stripes, read};

    #[test]
    fn the_layout_of_a_directory_stands_in_one_line() {
        for text in [
            "/lustre/test\nstripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: 0\n\n",
            "stripe_count:   4 stripe_size:    1048576 stripe_offset:  0 \n",
        ] {
            let stripes =
                Stripes { count: Some(4), size_bytes: Some(1 << 20), first: Some(0), targets: Vec::new() };
            assert_eq!(read(text), stripes);
        }
        let any = read("stripe_count:  -1 stripe_size:   4194304 pattern: raid0 stripe_offset: -1");
        assert_eq!((any.count, any.first), (Some(-1), Some(-1)));
    }

    #[test]
    fn the_targets_of_a_file_are_in_the_order_of_its_stripes() {
        let text = "/lustre/test/file\nlmm_stripe_count:  3\nlmm_stripe_size:   1048576\nlmm_pattern:       raid0\n\
                    lmm_layout_gen:    0\nlmm_stripe_offset: 2\n\tobdidx\t\t objid\t\t objid\t\t group\n\
                    \t     2\t         70274\t      0x11282\t             0\n\
                    \t     0\t         70275\t      0x11283\t             0\n\
                    \t     1\t         70276\t      0x11284\t             0\n\n";
        let stripes = read(text);
        assert_eq!((stripes.count, stripes.first), (Some(3), Some(2)));
        assert_eq!(stripes.targets, [2, 0, 1]);
    }

    #[test]
    fn what_is_no_answer_of_lfs_tells_nothing() {
        assert_eq!(read("error: getstripe failed for /tmp: not a Lustre"), Stripes::default());
    }
}
