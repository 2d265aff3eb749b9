/// Returns the optimal string alignment distance between two words. Edits are inserting, deleting or replacing a
/// letter, or swapping two neighbours. A distance above `max` is returned as `max + 1`.
#[must_use]
pub fn edits(typed: &[char], word: &str, max: usize) -> usize {
    let mut before: Vec<usize> = vec![0; typed.len() + 1];
    let mut above: Vec<usize> = (0..=typed.len()).collect();
    let mut current = before.clone();
    let mut last = None;
    for (row, char) in word.chars().enumerate() {
        current[0] = row + 1;
        for (column, typed_char) in typed.iter().enumerate() {
            let change = above[column] + usize::from(*typed_char != char);
            let mut least = change.min(above[column + 1] + 1).min(current[column] + 1);
            if column > 0 && last == Some(*typed_char) && typed.get(column - 1) == Some(&char) {
                least = least.min(before[column - 1] + 1);
            }
            current[column + 1] = least;
        }
        if current.iter().all(|edits| *edits > max) {
            return max + 1;
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut current);
        last = Some(char);
    }
    above.last().map_or(max + 1, |edits| (*edits).min(max + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The distance follows directly from its recursive definition.
    fn defined(one: &[char], other: &[char]) -> usize {
        match (one, other) {
            ([], rest) | (rest, []) => rest.len(),
            ([one_rest @ .., a], [other_rest @ .., b]) => {
                let mut least = (defined(one_rest, other_rest) + usize::from(a != b))
                    .min(defined(one_rest, other) + 1)
                    .min(defined(one, other_rest) + 1);
                if let ([one_head @ .., c], [other_head @ .., d]) = (one_rest, other_rest)
                    && (a, c) == (d, b)
                {
                    least = least.min(defined(one_head, other_head) + 1);
                }
                least
            }
        }
    }

    proptest! {
        #[test]
        fn edits_are_those_of_the_definition_both_ways(one in "[abé]{0,6}", other in "[abé]{0,6}", max in 0..8_usize) {
            let (left, right): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
            let defined = defined(&left, &right).min(max + 1);
            prop_assert_eq!(edits(&left, &other, max), defined);
            prop_assert_eq!(edits(&right, &one, max), defined);
        }
    }
}
