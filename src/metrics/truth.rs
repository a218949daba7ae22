//! Kleene's three-valued logic: what is still known when some checks failed.

/// True, false, or unknown (`None`).
pub(crate) type Truth = Option<bool>;

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

#[cfg(test)]
mod tests {
    use super::*;

    const T: Truth = Some(true);
    const F: Truth = Some(false);
    const U: Truth = None;

    #[test]
    fn a_known_value_that_settles_the_matter_beats_an_unknown() {
        assert_eq!(and(U, F), F);
        assert_eq!(and(F, U), F);
        assert_eq!(and(U, T), U);
        assert_eq!(and(T, T), T);
        assert_eq!(not(U), U);
    }
}
