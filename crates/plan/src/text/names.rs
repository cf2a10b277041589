//! Names of the variants of an enum.

/// The variants in `rows`, which has one row per variant in the order of declaration.
pub(crate) const fn variants<T: Copy, R: Copy, const N: usize>(rows: &[(T, R); N]) -> [T; N] {
    let mut all = [rows[0].0; N];
    let mut index = 0;
    while index < N {
        all[index] = rows[index].0;
        index += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::{Operation, Phase, RateName};

    #[test]
    fn names_are_in_the_order_of_declaration() {
        assert!((0..).zip(Phase::ALL).all(|(index, phase)| phase as usize == index));
        assert!((0..).zip(Operation::ALL).all(|(index, operation)| operation as usize == index));
        assert!((0..).zip(RateName::ALL).all(|(index, rate)| rate as usize == index));
    }
}
