//! Whether data was written by this program: for the guard that keeps the data of others.

use crate::stamp::{CELL, STAMP, Stamp, noise, noise_index};

/// Whether `cell`, 512 bytes, carries a stamp that a workload with `signature` wrote.
#[must_use]
pub fn is_own_cell(signature: u64, cell: &[u8]) -> bool {
    if cell.len() != CELL {
        return false;
    }
    let word =
        |index: usize| cell[index * 8..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    // The number of the noise stands in clear in the word after the stamp.
    let noise = noise(signature, noise_index(word(STAMP / 8)));
    Stamp::read([word(0), word(1), word(2), word(3)], signature, &noise).is_some()
}

#[cfg(test)]
mod tests {
    use super::is_own_cell;
    use crate::stamp::{CELL, written};

    #[test]
    fn own_data_is_known_by_its_signature_alone() {
        let mut buffer = written(4 * CELL, 8192, (5, 3, 2));
        assert!(buffer.chunks(CELL).all(|cell| is_own_cell(5, cell)));
        assert!(!buffer.chunks(CELL).any(|cell| is_own_cell(6, cell)));
        assert!(!is_own_cell(5, &[0; CELL]));
        buffer[3] ^= 1;
        assert!(!is_own_cell(5, &buffer[..CELL]), "a damaged stamp is nobody's");
    }
}
