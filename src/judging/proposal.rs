//! Rewrites of criteria: what they would change, and who has to decide.

use std::collections::HashMap;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::facts::{Fact, Facts};
use super::split_check::check_split;
use crate::error::{Error, Result};
use crate::table::{Criteria, FrameBuilder, Proposals, texts};
use crate::text::{Language, content_words};

/// What a proposal does to a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalKind {
    /// Several criteria in its place.
    Split,
    /// Another wording.
    Reword,
    /// None in its place.
    Drop,
}

impl ProposalKind {
    /// The spelling in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Reword => "reword",
            Self::Drop => "drop",
        }
    }
}

/// A rewrite as somebody proposes it.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub criterion: String,
    pub kind: ProposalKind,
    pub texts: Vec<String>,
    pub origin: String,
    pub rationale: Option<String>,
}

/// Proposes a rewrite of one criterion by hand. It is marked `mechanical` only if a split is covered exactly by its
/// parts, or a rewording keeps every content word, and nothing is fixed otherwise than before; all else, and every
/// drop, needs a lawyer.
///
/// ```
/// use claimlab::judging::{JudgingSet, ProposalKind, propose};
/// let set = JudgingSet::sample()?;
/// let new = ["States the monthly rent of the premises.".to_owned()];
/// let proposal = propose(set.criteria(), "t01-c1", ProposalKind::Reword, &new, "me")?;
/// assert_eq!(proposal.only("class", "needs_lawyer")?.height(), 1);
/// # Ok::<(), claimlab::Error>(())
/// ```
///
/// # Errors
/// When there is no such criterion, or the number of texts does not fit the kind.
pub fn propose(
    criteria: &Criteria,
    criterion: &str,
    kind: ProposalKind,
    new: &[String],
    origin: &str,
) -> Result<Proposals> {
    let fits = match kind {
        ProposalKind::Split => new.len() >= 2,
        ProposalKind::Reword => new.len() == 1,
        ProposalKind::Drop => new.is_empty(),
    };
    if !fits || new.iter().any(|text| text.trim().is_empty()) {
        return Err(Error::input(format!("a {} does not go with {} new texts", kind.as_str(), new.len()))
            .help("a split has two or more texts, a reword one, a drop none, and no text is empty"));
    }
    let draft = Draft {
        criterion: criterion.to_owned(),
        kind,
        texts: new.to_vec(),
        origin: origin.to_owned(),
        rationale: None,
    };
    table(criteria, &[draft])
}

/// Compares drafts with the criteria that they would replace.
pub(super) fn table(criteria: &Criteria, drafts: &[Draft]) -> Result<Proposals> {
    let frame = criteria.frame();
    let known: HashMap<String, String> = texts(frame, "criterion_id")?
        .into_iter()
        .zip(texts(frame, "text")?)
        .filter_map(|(id, text)| Some((id?, text?)))
        .collect();
    let mut rows: Vec<[Option<String>; 11]> = Vec::new();
    for draft in drafts {
        let old = known.get(&draft.criterion).ok_or_else(|| {
            Error::input(format!("a proposal names the criterion {:?}, which does not exist", draft.criterion))
        })?;
        let (removed, added) = changes(old, draft);
        let (class, because) = class(old, draft, &removed, &added);
        let list = |facts: &[Fact]| facts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        rows.push([
            Some(digest(&draft.criterion, old, &draft.texts)),
            Some(draft.criterion.clone()),
            Some(draft.kind.as_str().to_owned()),
            Some(old.clone()),
            Some(json!(draft.texts).to_string()),
            Some(class.to_owned()),
            Some(because),
            Some(list(&removed)),
            Some(list(&added)),
            Some(draft.origin.clone()),
            draft.rationale.clone(),
        ]);
    }
    let names = [
        "proposal_id",
        "criterion_id",
        "kind",
        "old_text",
        "new_texts",
        "class",
        "because",
        "removed",
        "added",
        "origin",
        "rationale",
    ];
    let mut builder = FrameBuilder::new();
    for (place, name) in names.iter().enumerate() {
        builder = builder.text_or_null(name, &rows.iter().map(|row| row[place].as_ref()).collect::<Vec<_>>());
    }
    Proposals::new(builder.build()?)
}

/// Names a proposal by what it would do, so that a sign-off cannot be carried over to another text.
pub(super) fn digest(criterion: &str, old: &str, new: &[String]) -> String {
    let told = json!([criterion, old, new]).to_string();
    Sha256::digest(told).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn changes(old: &str, draft: &Draft) -> (Vec<Fact>, Vec<Fact>) {
    let new = draft.texts.iter().fold(Facts::default(), |facts, text| facts.union(&Facts::read(text)));
    Facts::read(old).difference(&new)
}

fn class(old: &str, draft: &Draft, removed: &[Fact], added: &[Fact]) -> (&'static str, String) {
    const LAWYER: &str = "needs_lawyer";
    if draft.kind == ProposalKind::Drop {
        return (LAWYER, "dropping a criterion changes what is asked".to_owned());
    }
    if !(removed.is_empty() && added.is_empty()) {
        return (LAWYER, "names, numbers, dates, addresses, citations or operators change".to_owned());
    }
    match draft.kind {
        ProposalKind::Split => {
            let found = check_split(old, &draft.texts);
            if found.covers() {
                ("mechanical", "the parts cover their parent exactly".to_owned())
            } else {
                (LAWYER, found.problems().join("; "))
            }
        }
        _ => {
            let language = Language::detect(old);
            let stems = |text: &str| {
                let mut stems = content_words(text, language);
                stems.sort();
                stems
            };
            if stems(old) == stems(&draft.texts.concat()) {
                ("mechanical", "the same content words".to_owned())
            } else {
                (LAWYER, "the wording changes".to_owned())
            }
        }
    }
}
