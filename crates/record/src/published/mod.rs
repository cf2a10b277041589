//! Published figures of studies, with the conditions printed with them.
//!
//! Figures, statements and command lines are copied facts, each with its source. They are stored in
//! `data/published`, with one file for each study, and `misprints.toml` for the errors in them:
//!
//! | table | type |
//! |---|---|
//! | `[study]` | [`Study`]: title, authors, method, machines |
//! | `[[figure]]` | [`Published`]: the printed text, its value in a fixed unit, its conditions |
//! | `[[claim]]` | [`PublishedClaim`]: a statement, and how to test it |
//! | `[[command]]` | [`PublishedCommand`]: a command line as printed and as intended |
//! | `[[chart]]` | [`PublishedChart`]: axes and series of a chart whose points are lost |
//! | `[[misprint]]` | [`Misprint`]: the printed text, how to read it, and why |

mod detail;
mod figure;
mod study;
mod words;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

pub use detail::{Detail, Details};
pub use figure::{MisprintText, Published, PublishedParameters};
pub use study::{JudgedBy, Misprint, PublishedChart, PublishedClaim, PublishedCommand, Study};
pub use words::{
    Metric, MisprintSort, PublishedKind, PublishedOperation, PublishedStatistic, PublishedUnit, Qualifier,
};

/// The studies, with everything that was copied from them.
#[derive(Debug)]
pub struct Library {
    /// The studies, ordered by letter.
    pub studies: Vec<Study>,
    /// All figures, in the order of printing.
    pub figures: Vec<Published>,
    /// All statements.
    pub claims: Vec<PublishedClaim>,
    /// All command lines.
    pub commands: Vec<PublishedCommand>,
    /// All charts.
    pub charts: Vec<PublishedChart>,
    /// Known misprints and other defects.
    pub misprints: Vec<Misprint>,
    places: HashMap<String, usize>,
}

/// The contents of the file of a study.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StudyFile {
    format: u32,
    study: Study,
    figure: Vec<Published>,
    claim: Vec<PublishedClaim>,
    command: Vec<PublishedCommand>,
    chart: Vec<PublishedChart>,
}

/// The contents of the file of misprints.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MisprintFile {
    format: u32,
    misprint: Vec<Misprint>,
}

/// The only file format that this program reads, since the files are built into it.
const FORMAT: u32 = 1;

const STUDIES: [&str; 5] = [
    include_str!("../../data/published/cuny.toml"),
    include_str!("../../data/published/bsc.toml"),
    include_str!("../../data/published/sas.toml"),
    include_str!("../../data/published/zih.toml"),
    include_str!("../../data/published/scale.toml"),
];
const MISPRINTS: &str = include_str!("../../data/published/misprints.toml");

/// Minimum similarity (0: nothing in common, 1: equal) at which an unknown id is taken for a typing error
/// of a known one.
const SIMILAR_MIN: f64 = 0.6;

/// The built-in library. It is parsed on first use.
///
/// ```
/// let best = record::published().figure("a-t2-read-best").expect("study A, test 2");
/// assert_eq!((best.value, best.printed.as_str()), (32.9e9, "32.9 GB/s"));
/// ```
///
/// # Panics
/// Does not panic in practice: the texts are part of the program, and a test reads them.
#[must_use]
pub fn published() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::read(&STUDIES, MISPRINTS).expect("a test reads the same texts"))
}

impl Library {
    fn read(studies: &[&str], misprints: &str) -> Result<Self, toml::de::Error> {
        let mut library = Self {
            studies: Vec::new(),
            figures: Vec::new(),
            claims: Vec::new(),
            commands: Vec::new(),
            charts: Vec::new(),
            misprints: Vec::new(),
            places: HashMap::new(),
        };
        for text in studies {
            let file: StudyFile = toml::from_str(text)?;
            debug_assert_eq!(file.format, FORMAT, "{}", file.study.id);
            library.take(file);
        }
        let file: MisprintFile = toml::from_str(misprints)?;
        debug_assert_eq!(file.format, FORMAT, "misprints");
        library.misprints = file.misprint;
        let ids = library.figures.iter().enumerate();
        library.places = ids.map(|(place, figure)| (figure.id.clone(), place)).collect();
        Ok(library)
    }

    fn take(&mut self, file: StudyFile) {
        let (id, cited) = (file.study.id.clone(), file.study.cited());
        let study = || id.clone();
        let caution = file.study.caution.clone().unwrap_or_default();
        let figures = file.figure.into_iter().map(|one| Published {
            study: study(),
            cited: cited.clone(),
            caution: if one.kind == PublishedKind::Measured { caution.clone() } else { String::new() },
            ..one
        });
        self.figures.extend(figures);
        self.claims.extend(file.claim.into_iter().map(|one| PublishedClaim { study: study(), ..one }));
        self.commands.extend(file.command.into_iter().map(|one| PublishedCommand { study: study(), ..one }));
        self.charts.extend(file.chart.into_iter().map(|one| PublishedChart { study: study(), ..one }));
        self.studies.push(file.study);
    }

    /// The figure called `id`.
    #[must_use]
    pub fn figure(&self, id: &str) -> Option<&Published> {
        self.figures.get(*self.places.get(id)?)
    }

    /// The statement called `id`.
    #[must_use]
    pub fn claim(&self, id: &str) -> Option<&PublishedClaim> {
        self.claims.iter().find(|claim| claim.id == id)
    }

    /// The command line called `id`.
    #[must_use]
    pub fn command(&self, id: &str) -> Option<&PublishedCommand> {
        self.commands.iter().find(|command| command.id == id)
    }

    /// The chart called `id`.
    #[must_use]
    pub fn chart(&self, id: &str) -> Option<&PublishedChart> {
        self.charts.iter().find(|chart| chart.id == id)
    }

    /// The study with this letter (lower or upper case) or this id.
    #[must_use]
    pub fn study(&self, letter_or_id: &str) -> Option<&Study> {
        let wanted =
            |study: &&Study| study.id == letter_or_id || study.letter.eq_ignore_ascii_case(letter_or_id);
        self.studies.iter().find(wanted)
    }

    /// Known misprints of the figure, command or chart `id`.
    pub fn misprints_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Misprint> {
        self.misprints.iter().filter(move |misprint| misprint.concerns.iter().any(|one| one == id))
    }

    /// Every id: figures, statements, commands, charts.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let figures = self.figures.iter().map(|one| one.id.as_str());
        let claims = self.claims.iter().map(|one| one.id.as_str());
        let commands = self.commands.iter().map(|one| one.id.as_str());
        let charts = self.charts.iter().map(|one| one.id.as_str());
        figures.chain(claims).chain(commands).chain(charts)
    }

    /// The id that `wrong` was probably meant to be: the one that differs in the fewest letters.
    #[must_use]
    pub fn nearest<'a>(wrong: &str, ids: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let likeness = |id: &'a str| (strsim::normalized_damerau_levenshtein(wrong, id), id);
        let best = ids.map(likeness).max_by(|one, other| one.0.total_cmp(&other.0));
        best.filter(|(likeness, _)| *likeness >= SIMILAR_MIN).map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{
        FORMAT, Library, MISPRINTS, Metric, MisprintFile, PublishedStatistic, PublishedUnit, STUDIES,
        StudyFile, published,
    };

    #[test]
    fn nothing_was_lost_on_the_way() {
        let library = published();
        let counts =
            |letter: &str| library.figures.iter().filter(|figure| figure.id.starts_with(letter)).count();
        assert_eq!(["a-", "b-", "c-", "d-", "e-"].map(counts), [29, 125, 43, 46, 88]);
        assert_eq!(library.figures.len(), 331);
        assert_eq!(library.claims.len(), 38);
        assert_eq!(library.commands.len(), 27);
        assert_eq!(library.charts.len(), 33);
        assert_eq!(library.studies.len(), 5);
        assert_eq!(library.misprints.len(), 39);
    }

    #[test]
    fn the_files_have_the_format_that_is_read() {
        for text in STUDIES {
            let file: StudyFile = toml::from_str(text).expect("a study");
            assert_eq!(file.format, FORMAT);
        }
        let file: MisprintFile = toml::from_str(MISPRINTS).expect("misprints");
        assert_eq!(file.format, FORMAT);
    }

    #[test]
    fn every_id_is_there_once_and_every_misprint_is_of_something() {
        let library = published();
        let ids: HashSet<&str> = library.ids().collect();
        assert_eq!(ids.len(), library.ids().count());
        for misprint in &library.misprints {
            assert!(library.study(&misprint.study).is_some(), "{}", misprint.study);
            for id in &misprint.concerns {
                assert!(ids.contains(id.as_str()), "{id}");
                assert!(id.starts_with(&misprint.study.to_lowercase()), "{id} is not of {}", misprint.study);
            }
        }
    }

    #[test]
    fn the_unit_of_a_figure_is_that_of_its_metric() {
        for figure in &published().figures {
            let unit = match figure.metric {
                Metric::Bandwidth | Metric::LinkBandwidth => PublishedUnit::BytesPerSecond,
                Metric::Iops | Metric::Rate | Metric::Creates => PublishedUnit::OperationsPerSecond,
                Metric::Latency | Metric::Seconds => PublishedUnit::Seconds,
                Metric::Scalability | Metric::Tax | Metric::Utilisation => PublishedUnit::Fraction,
                _ => continue,
            };
            assert_eq!(figure.unit, unit, "{}", figure.id);
            let none = figure.value == 0.0 && figure.statistic == PublishedStatistic::Deviation;
            assert!(figure.value > 0.0 || none, "{}", figure.id);
        }
    }

    #[test]
    fn what_is_misprinted_keeps_both_readings() {
        let library = published();
        let wrong = library.figures.iter().filter(|figure| figure.misprint.is_some());
        let readings: Vec<_> = wrong
            .map(|figure| {
                (figure.id.as_str(), figure.value, figure.misprint.and_then(|slip| slip.printed_value))
            })
            .collect();
        assert_eq!(
            readings,
            [
                ("a-sum-imsm-read", 29.9e9, Some(29.9e6)),
                ("a-sum-imsm-write", 24.2e9, Some(24.2e6)),
                ("b-ws-nvme-write-max", 82_607e6, Some(82_607e9)),
                ("b-ws-nvme-read-max", 185_443e6, Some(185_443e9)),
                ("b-con-seq128-ssd-write", 447e6, None),
                ("c-tab1-delta-mem", 1e8, Some(1e7)),
                ("c-tab2-flash-sdev", 0.035, Some(0.035)),
                ("d-job-12501-iops", 1_320_137.0, Some(1_220_137.0)),
            ]
        );
        for (id, ..) in readings {
            assert!(library.misprints_of(id).next().is_some(), "{id} has no reason");
        }
    }

    #[test]
    fn figures_are_shown_as_printed_and_as_read() {
        let figure = |id: &str| published().figure(id).expect("an id");
        assert_eq!(figure("b-tab4-nvme-read-1mb").as_published(), "10068.27 MB/s");
        assert_eq!(figure("b-tab4-nvme-read-1mb").text(), "10.07 GB/s");
        assert_eq!(figure("a-t1-util").text(), "≈ 100 %");
        assert_eq!(figure("a-t1-write-best").cited, "Analysis of Intel SSDs on SGI UV 300 (2016)");
    }

    #[test]
    fn a_study_is_found_by_letter_and_by_id() {
        let library = published();
        assert_eq!(library.study("b").map(|study| study.year), Some(2018));
        assert_eq!(library.study("sas-p3700-2014").map(|study| study.letter.as_str()), Some("C"));
        assert!(library.study("F").is_none());
        let command = library.command("a-cmd-ior-t3").expect("test 3");
        assert!(command.verbatim.as_ref().is_some_and(|text| text.contains("src7C")));
        assert!(command.intended.contains("-s 1000 -N 33"));
    }

    #[test]
    fn a_wrong_id_leads_to_the_nearest() {
        let library = published();
        let nearest = |wrong| Library::nearest(wrong, library.ids());
        assert_eq!(nearest("a-t2-raed-best"), Some("a-t2-read-best"));
        assert_eq!(nearest("a-claim-taxes"), Some("a-claim-tax"));
        assert_eq!(nearest("zzzzz"), None);
    }
}
