//! Checks that all ranks run the same program with the same arguments.

use crate::{Comm, CommError};

/// Separates the fields of a difference sent to rank 0. It does not occur in any version or argument.
const SEPARATOR: char = '\u{1f}';

/// A difference between a rank and rank 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The lowest rank that differs.
    pub rank: u32,
    /// Its node.
    pub node: String,
    /// The name of the differing item, for example `version`.
    pub what: String,
    /// Its value.
    pub theirs: String,
    /// Rank 0's value.
    pub ours: String,
}

/// The result of a comparison, as known to one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// All ranks have the same values.
    Same,
    /// On rank 0: the first difference.
    Different(Difference),
    /// On the other ranks: some rank differs; only rank 0 knows which one.
    SomebodyDiffers,
}

/// Compares `own` (names and values) of all ranks with those of rank 0. All ranks must pass the same names
/// in the same order.
///
/// # Errors
/// Errors if a peer is gone, late or out of step.
pub fn agree(comm: &dyn Comm, own: &[(&str, String)]) -> Result<Agreement, CommError> {
    let values = own.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>();
    let leader = comm.broadcast(join(&values).into_bytes())?;
    let leader = String::from_utf8_lossy(&leader).into_owned();
    let theirs: Vec<&str> = leader.split(SEPARATOR).collect();
    let at = (0..own.len()).find(|&index| theirs.get(index) != Some(&values[index]));
    if !comm.any(at.is_some())? {
        return Ok(Agreement::Same);
    }
    let told = at.map(|index| join(&[&comm.rank().to_string(), comm.node(), own[index].0, values[index]]));
    let first = comm.combine(told.unwrap_or_default().into_bytes(), &mut |first, second| {
        if first.is_empty() { second } else { first }
    })?;
    let Some(first) = first else { return Ok(Agreement::SomebodyDiffers) };
    let first = String::from_utf8_lossy(&first).into_owned();
    let mut fields = first.split(SEPARATOR).map(str::to_owned);
    let mut field = || fields.next().unwrap_or_default();
    let (rank, node, what, theirs) = (field(), field(), field(), field());
    let ours = own.iter().find(|(name, _)| *name == what).map(|(_, value)| value.clone());
    let rank = rank.parse().unwrap_or_default();
    Ok(Agreement::Different(Difference { rank, node, what, theirs, ours: ours.unwrap_or_default() }))
}

fn join(fields: &[&str]) -> String {
    fields.join(&SEPARATOR.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Agreement, Difference, agree};
    use crate::{Comm, Fake};

    fn all(arguments: [&'static str; 3]) -> Vec<Agreement> {
        std::thread::scope(|scope| {
            let ranks = Fake::world(&["n1", "n1", "n2"]).into_iter().zip(arguments);
            let start = |(rank, words): (Fake, &'static str)| {
                let own = [("version", "0.1".to_owned()), ("arguments", words.to_owned())];
                scope.spawn(move || agree(&rank as &dyn Comm, &own).expect("all come"))
            };
            let threads: Vec<_> = ranks.map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        })
    }

    #[test]
    fn ranks_that_are_asked_the_same_agree() {
        assert_eq!(all(["run a", "run a", "run a"]), [Agreement::Same, Agreement::Same, Agreement::Same]);
    }

    #[test]
    fn the_first_rank_that_differs_is_named_on_rank_0() {
        let seen = all(["run a", "run a", "run b"]);
        let difference = Difference {
            rank: 2,
            node: "n2".to_owned(),
            what: "arguments".to_owned(),
            theirs: "run b".to_owned(),
            ours: "run a".to_owned(),
        };
        assert_eq!(seen[0], Agreement::Different(difference));
        assert_eq!(seen[1..], [Agreement::SomebodyDiffers, Agreement::SomebodyDiffers]);
    }
}
