//! What a sentence does with an act or a quality: asserts, denies, requires, permits, forbids or dispenses with it.

/// A stance towards the word that it bears on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stance {
    /// Stated, with no operator.
    Plain,
    Obligation,
    Permission,
    Negated,
    Prohibition,
    /// No obligation: *need not*, *n'est pas tenu de*.
    Exemption,
}

/// How two stances on the same word go together, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Accord {
    Agree,
    /// They neither agree nor exclude each other.
    Doubt,
    /// They differ in strength: an obligation against a permission.
    Weak,
    Conflict,
}

impl Stance {
    /// The stance of a modal under an even or odd number of negations.
    pub fn negate(self) -> Self {
        match self {
            Self::Plain => Self::Negated,
            Self::Negated => Self::Plain,
            Self::Obligation => Self::Exemption,
            Self::Exemption => Self::Obligation,
            Self::Permission => Self::Prohibition,
            Self::Prohibition => Self::Permission,
        }
    }

    /// Whether it denies.
    pub fn is_negative(self) -> bool {
        matches!(self, Self::Negated | Self::Prohibition | Self::Exemption)
    }

    /// How a claim's stance goes with a premise's.
    pub fn accord(self, premise: Self) -> Accord {
        use Stance::{Exemption, Obligation, Permission, Prohibition};
        match (self, premise) {
            (a, b) if a == b => Accord::Agree,
            (Obligation, Permission) | (Permission, Obligation) => Accord::Weak,
            (Permission, Exemption) | (Exemption, Permission) => Accord::Doubt,
            // English *shall not* may forbid or merely deny.
            (Prohibition, Exemption) | (Exemption, Prohibition) => Accord::Doubt,
            (a, b) if a.is_negative() == b.is_negative() => Accord::Agree,
            _ => Accord::Conflict,
        }
    }

    /// What a reader calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "stated",
            Self::Obligation => "required",
            Self::Permission => "permitted",
            Self::Negated => "denied",
            Self::Prohibition => "forbidden",
            Self::Exemption => "not required",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Accord, Stance};

    #[test]
    fn accords() {
        assert_eq!(Stance::Obligation.accord(Stance::Plain), Accord::Agree);
        assert_eq!(Stance::Obligation.accord(Stance::Permission), Accord::Weak);
        assert_eq!(Stance::Permission.accord(Stance::Prohibition), Accord::Conflict);
        assert_eq!(Stance::Prohibition.negate(), Stance::Permission);
    }
}
