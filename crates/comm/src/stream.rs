//! The pieces in which the bytes of each rank are sent to rank 0 ([`crate::Comm::stream`]).

/// Size of a piece, which fits into one message between ranks.
const PIECE_BYTES: usize = 48 * 1024;

/// First byte of a piece followed by others of the same rank.
const MORE: u8 = 0;
/// First byte of the last piece of a rank.
const LAST: u8 = 1;

/// Splits a rank's bytes into pieces; at least one.
pub(crate) fn pieces(bytes: Vec<u8>) -> impl Iterator<Item = Vec<u8>> {
    let count = bytes.len().div_ceil(PIECE_BYTES).max(1);
    (0..count).map(move |number| {
        let end = bytes.len().min((number + 1) * PIECE_BYTES);
        let mut piece = vec![if number + 1 == count { LAST } else { MORE }];
        piece.extend(&bytes[number * PIECE_BYTES..end]);
        piece
    })
}

/// Assembles the pieces of all ranks except 0, in rank order.
pub(crate) struct Parts {
    /// The rank whose pieces are being received.
    rank: u32,
    part: Vec<u8>,
    ranks: u32,
    bytes_max: usize,
}

/// The rank that sent something invalid, and what it was.
pub(crate) type Wrong = (u32, String);

impl Parts {
    /// Creates a stream of `ranks` ranks, each of which may send `bytes_max` bytes.
    pub(crate) fn new(ranks: u32, bytes_max: usize) -> Self {
        Self { rank: 1, part: Vec::new(), ranks, bytes_max }
    }

    /// Adds a piece. Returns a rank and its bytes when they are complete.
    ///
    /// # Errors
    /// Errors if all ranks had already sent their last pieces, or if this one has sent too much.
    pub(crate) fn add(&mut self, piece: &[u8]) -> Result<Option<(u32, Vec<u8>)>, Wrong> {
        let wrong = |what: String| Err((self.rank.min(self.ranks - 1), what));
        let Some((&first, bytes)) = piece.split_first().filter(|_| self.rank < self.ranks) else {
            return wrong("its stream continues after its last piece".to_owned());
        };
        if self.part.len() + bytes.len() > self.bytes_max {
            return wrong(format!("it sent more than {} MiB in a stream", self.bytes_max >> 20));
        }
        self.part.extend(bytes);
        if first == MORE {
            return Ok(None);
        }
        self.rank += 1;
        Ok(Some((self.rank - 1, std::mem::take(&mut self.part))))
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// Errors if a rank has not sent its last piece.
    pub(crate) fn end(self) -> Result<(), Wrong> {
        match self.rank == self.ranks {
            true => Ok(()),
            false => Err((self.rank, "its stream ended before its last piece".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{PIECE_BYTES, Parts, pieces};

    #[test]
    fn what_is_not_whole_names_its_rank() {
        let said = |pieces: &[&[u8]]| {
            let mut parts = Parts::new(3, 1 << 20);
            let added: Result<Vec<_>, _> = pieces.iter().map(|piece| parts.add(piece)).collect();
            added.and_then(|_| parts.end()).err()
        };
        let wrong = |rank: u32, what: &str| Some((rank, what.to_owned()));
        assert_eq!(said(&[&[1, 9], &[0, 9], &[1]]), None);
        assert_eq!(said(&[&[1], &[0, 9]]), wrong(2, "its stream ended before its last piece"));
        assert_eq!(said(&[]), wrong(1, "its stream ended before its last piece"));
        assert_eq!(said(&[&[1], &[1], &[1]]), wrong(2, "its stream continues after its last piece"));
        let much = vec![0; PIECE_BYTES];
        let many: Vec<&[u8]> = std::iter::repeat_n(much.as_slice(), 30).collect();
        assert_eq!(said(&many), wrong(1, "it sent more than 1 MiB in a stream"));
    }

    proptest! {
        #[test]
        fn streams_come_whole_and_any_pieces_stay_below_the_limit(
            all in vec(0..3 * PIECE_BYTES, 1..4),
            odd in vec(vec(any::<u8>(), 0..60), 0..40),
        ) {
            let ranks = u32::try_from(all.len()).expect("few") + 1;
            let mut parts = Parts::new(ranks, 3 * PIECE_BYTES);
            for (rank, &length) in (1..).zip(&all) {
                let bytes = vec![3; length];
                let whole: Vec<_> = pieces(bytes.clone()).filter_map(|piece| parts.add(&piece).expect("fits")).collect();
                prop_assert_eq!(whole, [(rank, bytes)]);
            }
            prop_assert!(parts.end().is_ok());
            let mut parts = Parts::new(3, 100);
            for piece in odd {
                let added = parts.add(&piece);
                prop_assert!(parts.part.len() <= 100);
                if let Err((rank, _)) | Ok(Some((rank, _))) = added {
                    prop_assert!(rank < 3);
                }
            }
        }
    }
}
