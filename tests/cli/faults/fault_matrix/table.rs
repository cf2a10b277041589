//! The table of attempts and of the problems they found.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use super::attempt::Problems;
use super::fault::Fault;
use super::work::Work;

/// The attempts of one cell.
#[derive(Debug, Default)]
pub(super) struct Tally {
    tries: u32,
    lost: u32,
    left: u32,
    wrong: u32,
    told: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, tried: Result<Problems, String>) {
        match tried {
            Ok(problems) => {
                self.tries += 1;
                self.lost += u32::from(!problems.lost.is_empty());
                self.left += u32::from(!problems.left.is_empty());
                self.wrong += u32::from(!problems.wrong.is_empty());
                let kinds = [("lost", problems.lost), ("left", problems.left), ("wrong", problems.wrong)];
                for (kind, all) in kinds {
                    self.told.extend(all.into_iter().map(|one| format!("{kind}: {one}")));
                }
            }
            Err(error) => self.told.push(error),
        }
    }

    fn cell(&self) -> String {
        let mut text = self.tries.to_string();
        for (count, word) in [(self.lost, "lost"), (self.left, "left"), (self.wrong, "wrong")] {
            if count > 0 {
                let _ = write!(text, ", {count} {word}");
            }
        }
        text
    }
}

/// All cells.
pub(super) struct Table {
    pub(super) tallies: BTreeMap<(Work, Fault), Tally>,
    pub(super) reasons: BTreeMap<(Work, Fault), &'static str>,
    pub(super) lacks: BTreeMap<(Work, Fault), String>,
    pub(super) seed: u64,
}

impl Table {
    /// The problems, one per line.
    pub(super) fn problems(&self) -> Vec<String> {
        let of = |((work, fault), tally): (&(Work, Fault), &Tally)| {
            let name = format!("{}: {}", work.name(), fault.name());
            tally.told.iter().map(|told| format!("{name}: {told}")).collect::<Vec<_>>()
        };
        self.tallies.iter().flat_map(of).collect()
    }

    /// Writes the page, if the documentation is to be updated.
    pub(super) fn update_docs(&self) {
        if env::var_os("UPDATE_DOCS").is_some() {
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/RELIABILITY.md");
            fs::write(page, self.page()).expect("the page is written");
        }
    }

    fn page(&self) -> String {
        let sum = |of: fn(&Tally) -> u32| self.tallies.values().map(of).sum::<u32>();
        let mut text = format!(
            "# Reliability\n\n\
             What happens to a run, a record, a layout or a tuned host when something fails in the middle. A test makes \
             this table: it causes each fault at a random moment of each kind of work, and checks what is left:\n\n\
             - *lost*: a result that was finished before the fault is missing from the record, or the results after \
             `--resume` differ from those of a run without a fault;\n\
             - *left*: something that the program made is not removed by `ioproof clean` (`layout clean`, `host \
             restore`), or something that it did not make has changed;\n\
             - *wrong*: an exit code or a message that [EXIT_CODES.md](EXIT_CODES.md) does not list, or a wrong figure \
             without a mark.\n\n\
             A try counts only if the fault occurred while the work was running. {} tries with seed {}: {} lost, {} left, \
             {} wrong. Each cell has its number of tries, and every count that is not zero.\n\n\
             ```\n\
             FAULT_TRIES=2000 cargo test --test cli fault_matrix                 # with a new seed\n\
             FAULT_TRIES=2000 UPDATE_DOCS=1 cargo test --test cli fault_matrix   # and update this page\n\
             FAULT_SEED={} FAULT_ONLY='psync: kill' cargo test --test cli fault_matrix\n\
             ```\n\n",
            sum(|tally| tally.tries),
            self.seed,
            sum(|tally| tally.lost),
            sum(|tally| tally.left),
            sum(|tally| tally.wrong),
            self.seed,
        );
        let mut letters: Vec<&str> = Vec::new();
        let _ = writeln!(text, "| fault |{}", Work::ALL.map(|work| format!(" {} |", work.name())).concat());
        let _ = writeln!(text, "|---|{}", "---|".repeat(Work::ALL.len()));
        for fault in Fault::ALL {
            let _ = write!(text, "| {} |", fault.name());
            for work in Work::ALL {
                let here = (work, fault);
                let lacks = self.lacks.get(&here).map(String::as_str);
                let cell = match (self.tallies.get(&here), self.reasons.get(&here).copied().or(lacks)) {
                    (Some(tally), _) => tally.cell(),
                    (None, Some(reason)) => {
                        let place = letters.iter().position(|one| *one == reason).unwrap_or_else(|| {
                            letters.push(reason);
                            letters.len() - 1
                        });
                        letter(place)
                    }
                    (None, None) => "not tried".to_owned(),
                };
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
        text.push_str("\nReasons why a cell is not tried:\n\n");
        for (place, reason) in letters.iter().enumerate() {
            let _ = writeln!(text, "- {}: {reason}", letter(place));
        }
        text.push_str(
            "\n## In a virtual machine\n\n\
             Faults that would harm the host are tried in a virtual machine, by `scripts/virtual-machine.sh \
             a_clock_that_is_set`, which `./check --full` runs: during a run, the clock of the machine is set one hour \
             ahead and two hours back, and an NVMe device is removed from its PCI bus. Quotas are tried through FUSE \
             (EDQUOT).\n\n\
             ## Planted defects\n\n\
             `scripts/planted-faults.sh` builds the program with a defect: files are not claimed, finished results are \
             lost, or an error is not reported. The test of the table must fail for each of them. `./check --full` runs \
             this script and tries each cell once; `./check` tries twelve cells.\n",
        );
        text.push_str("\n## How each fault is caused\n\n| fault | how |\n|---|---|\n");
        for fault in Fault::ALL {
            let _ = writeln!(text, "| {} | {} |", fault.name(), fault.mechanism());
        }
        text
    }
}

fn letter(place: usize) -> String {
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    char::from(letters[place % letters.len()]).to_string()
}
