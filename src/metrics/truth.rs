//! Kleene's three-valued logic: what is still known when some checks failed.

use crate::table::Label;

/// True, false, or unknown (`None`).
pub(crate) type Truth = Option<bool>;

/// Whether a check found entailment; unknown when the check failed.
pub(crate) fn entailed(label: Option<Label>) -> Truth {
    label.map(Label::is_entailment)
}

/// NOT: unknown stays unknown.
pub(crate) fn not(x: Truth) -> Truth {
    x.map(|x| !x)
}

/// AND: one known falsehood settles it.
pub(crate) fn and(x: Truth, y: Truth) -> Truth {
    match (x, y) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// OR over any number of values: one known truth settles it; over none it is false.
pub(crate) fn any(values: impl IntoIterator<Item = Truth>) -> Truth {
    let mut result = Some(false);
    for value in values {
        match value {
            Some(true) => return Some(true),
            Some(false) => {}
            None => result = None,
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Truth = Some(true);
    const F: Truth = Some(false);
    const U: Truth = None;

    #[test]
    fn a_known_value_that_settles_the_matter_beats_an_unknown() {
        assert_eq!(any([U, T]), T);
        assert_eq!(any([U, F]), U);
        assert_eq!(any([F, F]), F);
        assert_eq!(any([]), F);
        assert_eq!(and(U, F), F);
        assert_eq!(and(F, U), F);
        assert_eq!(and(U, T), U);
        assert_eq!(and(T, T), T);
        assert_eq!(not(U), U);
        assert_eq!(entailed(None), U);
        assert_eq!(entailed(Some(Label::Contradiction)), F);
    }
}
