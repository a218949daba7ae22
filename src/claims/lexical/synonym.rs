//! A few words that texts on law use for one another. Short on purpose: a longer list would pass for understanding.

use crate::text::language::Language;

/// The stem that stands for a stem and its synonyms.
pub(super) fn common(stem: &str, language: Language) -> &str {
    match (language, stem) {
        (Language::English, "notif") => "inform",
        (Language::English, "agreement" | "agree") => "contract",
        (Language::English, "lessor") => "landlord",
        (Language::English, "lesse" | "lessee") => "tenant",
        (Language::English, "child" | "children") => "minor",
        (Language::English, "comm" | "begin" | "began") => "start",
        (Language::English, "end" | "ended" | "ending") => "termin",
        (Language::English, "firm" | "undertak") => "compan",
        (Language::English, "rul") => "judg",
        (Language::English, "worker") => "employee",
        (Language::French, "notif") => "inform",
        (Language::French, "convention") => "contrat",
        (Language::French, "preneur") => "locatair",
        (Language::French, "depass") => "exced",
        (Language::French, "rompr" | "ruptur") => "resil",
        (Language::French, "debut" | "comm") => "commenc",
        (Language::French, "societ") => "entrepris",
        (Language::French, "travailleur" | "employ") => "salar",
        (Language::French, "eleve" | "elev") => "atteindr",
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::content_stem;
    use super::*;

    #[test]
    fn synonyms_meet() {
        for (a, b, language) in [
            ("notified", "inform", Language::English),
            ("lessee", "tenants", Language::English),
            ("commences", "starts", Language::English),
            ("ended", "terminated", Language::English),
            ("workers", "employees", Language::English),
            ("undertakings", "companies", Language::English),
            ("notifier", "informe", Language::French),
            ("depasser", "exceder", Language::French),
            ("rupture", "resiliation", Language::French),
            ("societes", "entreprise", Language::French),
            ("travailleurs", "salarie", Language::French),
            ("employes", "salaries", Language::French),
            ("preneur", "locataires", Language::French),
            ("debute", "commence", Language::French),
            ("elever", "atteindre", Language::French),
        ] {
            assert_eq!(content_stem(a, language), content_stem(b, language), "{a} {b}");
        }
    }
}
