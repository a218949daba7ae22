//! One question as HTML. Whatever comes from data or models is escaped.

use super::case::{Case, Chunk, Claim, Kind, Side, Verdict};
use super::place::Placed;
use crate::table::{Label, escape};

/// Characters of a text that are shown.
const LENGTH: usize = 20_000;
/// Claims of one side that are shown.
const CLAIMS: usize = 150;

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::SelfKnowledge => "own",
            Self::NoiseRelevant => "noise-relevant",
            Self::NoiseIrrelevant => "noise-irrelevant",
            Self::Hallucination => "invented",
            Self::Unknown => "unknown",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Correct => "correct, from a chunk",
            Self::SelfKnowledge => "correct, in no chunk",
            Self::NoiseRelevant => "noise from a relevant chunk",
            Self::NoiseIrrelevant => "noise from an irrelevant chunk",
            Self::Hallucination => "hallucination",
            Self::Unknown => "a check failed",
        }
    }
}

/// The key to the colours.
pub(super) fn legend() -> String {
    let kinds = [
        Kind::Correct,
        Kind::SelfKnowledge,
        Kind::NoiseRelevant,
        Kind::NoiseIrrelevant,
        Kind::Hallucination,
        Kind::Unknown,
    ];
    let marks: String =
        kinds.iter().map(|kind| format!("<span class=\"mark {}\">{}</span> ", kind.class(), kind.name())).collect();
    format!(
        "<p class=\"note\">Claims: {marks}· ringed in red: contradicted by the other answer. Point at a number, or move \
         to it by keyboard, for its verdicts. Numbers stand at the sentence that shares most words with the claim.</p>"
    )
}

/// What stands inside the frame of one question.
pub(super) fn body(case: &Case) -> String {
    let mut html = format!("<p class=\"question text\">{}</p><p>", escape(&case.question));
    for (name, value) in &case.facets {
        html += &format!("<span class=\"tag\">{}: {}</span>", escape(name), escape(value));
    }
    html += &format!(
        "<span class=\"id\">{}</span></p><h4>Reference answer</h4><div class=\"text\">{}</div><div class=\"sides\">",
        escape(&case.id),
        escape(&cut(&case.reference))
    );
    for side in &case.sides {
        html += &one_side(case, side);
    }
    html + "</div>"
}

fn one_side(case: &Case, side: &Side) -> String {
    let mut html = format!("<div class=\"side\"><h3>{}</h3><div>", escape(&side.system));
    for (metric, value, undefined) in &side.scores {
        let value = value.map_or_else(
            || format!("<i title=\"{}\">–</i>", escape(undefined.as_deref().unwrap_or("unknown"))),
            |value| format!("<b>{:.0}</b>", value * 100.0),
        );
        html += &format!("<span class=\"score\">{} {value}</span>", metric.label());
    }
    html += "</div><h4>Response</h4>";
    html += &match &side.response {
        Some(response) => format!("<div class=\"text\">{}</div>", response_text(case, side, &cut(response))),
        None => format!(
            "<p class=\"text unknown\">No response: {}</p>",
            escape(side.failure.as_deref().unwrap_or("the call failed"))
        ),
    };
    html += "<h4>Claims of the response</h4><ol>";
    for (place, claim) in side.claims.iter().take(CLAIMS).enumerate() {
        let kind = side.kind(claim);
        html += &format!(
            "<li>{} <span class=\"text\">{}</span> <span class=\"kind {}\">{}</span></li>",
            chip(&format!("{}", place + 1), kind.class(), claim, side, "reference answer"),
            escape(&cut(&claim.text)),
            kind.class(),
            kind.name()
        );
    }
    html += &format!("</ol>{}<h4>Claims of the reference answer</h4><ol>", more(side.claims.len()));
    for (place, claim) in side.expected.iter().take(CLAIMS).enumerate() {
        html += &format!(
            "<li>{} <span class=\"text\">{}</span> {}{}</li>",
            chip(&format!("R{}", place + 1), expected_class(claim), claim, side, "response"),
            escape(&cut(&claim.text)),
            told(
                claim.is_found(),
                claim.chunks.iter().any(|verdict| verdict.label.is_none()),
                "retrieved",
                "not retrieved"
            ),
            match claim.answer.label {
                Some(Label::Entailment) => "<span class=\"kind yes\">stated</span>",
                Some(Label::Contradiction) => "<span class=\"kind no\">contradicted</span>",
                Some(Label::Neutral) => "<span class=\"kind no\">missed</span>",
                None => "<span class=\"kind none\">check failed</span>",
            }
        );
    }
    html += &format!("</ol>{}<h4>Retrieved by {}</h4>", more(side.expected.len()), escape(&side.retriever));
    for (place, chunk) in side.chunks.iter().enumerate() {
        html += &one_chunk(case, side, place, chunk);
    }
    if side.chunks.is_empty() {
        html += "<p class=\"note\">Nothing was retrieved.</p>";
    }
    html + "</div>"
}

fn more(claims: usize) -> String {
    if claims <= CLAIMS {
        return String::new();
    }
    format!("<p class=\"note\">{} more claims are not shown.</p>", claims - CLAIMS)
}

fn told(is_so: bool, is_unknown: bool, yes: &str, no: &str) -> String {
    let (class, text) = match (is_so, is_unknown) {
        (true, _) => ("yes", yes),
        (false, true) => ("none", "check failed"),
        (false, false) => ("no", no),
    };
    format!("<span class=\"kind {class}\">{text}</span>")
}

fn expected_class(claim: &Claim) -> &'static str {
    match (claim.answer.label, claim.is_found()) {
        (Some(Label::Entailment), _) => "correct",
        (Some(_), true) => "noise-irrelevant",
        (Some(_), false) => "invented",
        (None, _) => "unknown",
    }
}

/// A claim's number with its verdicts in a box that opens when it is pointed at or focused.
fn chip(number: &str, class: &str, claim: &Claim, side: &Side, other: &str) -> String {
    let against = if claim.answer.is(Label::Contradiction) { " against" } else { "" };
    let mut tip = format!("<b class=\"text\">{}</b><br>", escape(&cut(&claim.text)));
    tip += &format!("{other}: {}<br>", verdict(&claim.answer));
    for (place, found) in claim.chunks.iter().enumerate() {
        let relevant = if side.is_relevant(place) { " (relevant)" } else { "" };
        tip += &format!("chunk {}{relevant}: {}<br>", place + 1, verdict(found));
    }
    tip += &format!("<span class=\"id\">{}</span>", escape(&claim.id));
    format!("<span class=\"chip {class}{against}\" tabindex=\"0\">{number}<span class=\"tip\">{tip}</span></span>")
}

fn verdict(found: &Verdict) -> String {
    let sign = match found.label {
        Some(Label::Entailment) => "✓ entailed",
        Some(Label::Contradiction) => "✗ contradicted",
        Some(Label::Neutral) => "· neutral",
        None => "? no verdict",
    };
    if found.reason.is_empty() { sign.to_owned() } else { format!("{sign} <i>{}</i>", escape(&cut(&found.reason))) }
}

/// The response with every claim's number after the sentence where it is made.
fn response_text(case: &Case, side: &Side, response: &str) -> String {
    let placed = Placed::new(response, case.language);
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); placed.parts().0.len()];
    for (number, claim) in side.claims.iter().take(CLAIMS).enumerate() {
        if let Some(sentence) = placed.find(&claim.text) {
            at[sentence].push(number);
        }
    }
    let (parts, rest) = placed.parts();
    let mut html = String::new();
    for ((before, sentence), numbers) in parts.iter().zip(at) {
        html += &escape(before);
        // The worst of a sentence's claims colours it.
        let worst = numbers.iter().map(|number| side.kind(&side.claims[*number])).max_by_key(|kind| severity(*kind));
        html += &worst.map_or_else(
            || escape(sentence),
            |kind| format!("<span class=\"mark {}\">{}</span>", kind.class(), escape(sentence)),
        );
        for number in numbers {
            let claim = &side.claims[number];
            html += &chip(&(number + 1).to_string(), side.kind(claim).class(), claim, side, "reference answer");
        }
    }
    html + &escape(rest)
}

fn severity(kind: Kind) -> usize {
    match kind {
        Kind::Correct => 0,
        Kind::SelfKnowledge => 1,
        Kind::Unknown => 2,
        Kind::NoiseRelevant => 3,
        Kind::NoiseIrrelevant => 4,
        Kind::Hallucination => 5,
    }
}

/// A chunk, to be unfolded, with the passages marked that hold the claims it entails or contradicts.
fn one_chunk(case: &Case, side: &Side, place: usize, chunk: &Chunk) -> String {
    let text = cut(&chunk.text);
    let placed = Placed::new(&text, case.language);
    let mut at: Vec<Vec<(String, bool)>> = vec![Vec::new(); placed.parts().0.len()];
    let mut backs = Vec::new();
    let numbered = |claims: &[Claim], sign: &str| -> Vec<(String, Claim)> {
        claims
            .iter()
            .take(CLAIMS)
            .enumerate()
            .map(|(number, claim)| (format!("{sign}{}", number + 1), claim.clone()))
            .collect()
    };
    for (number, claim) in numbered(&side.expected, "R").into_iter().chain(numbered(&side.claims, "")) {
        let found = claim.chunks.get(place).and_then(|verdict| verdict.label);
        let (Some(label @ (Label::Entailment | Label::Contradiction)), sentence) = (found, placed.find(&claim.text))
        else {
            continue;
        };
        let against = label == Label::Contradiction;
        backs.push(if against { format!("{number} ✗") } else { number.clone() });
        if let Some(sentence) = sentence {
            at[sentence].push((number, against));
        }
    }
    let (parts, rest) = placed.parts();
    let mut body = String::new();
    for ((before, sentence), numbers) in parts.iter().zip(at) {
        body += &escape(before);
        if numbers.is_empty() {
            body += &escape(sentence);
            continue;
        }
        let class = if numbers.iter().any(|(_, against)| *against) { "invented" } else { "correct" };
        let told: Vec<String> =
            numbers.into_iter().map(|(number, against)| if against { format!("{number} ✗") } else { number }).collect();
        body += &format!(
            "<span class=\"mark {class}\">{}</span><span class=\"chip {class}\">{}</span>",
            escape(sentence),
            told.join(", ")
        );
    }
    body += &escape(rest);
    let (class, word) = if side.is_relevant(place) { (" relevant", "<b>relevant</b>") } else { ("", "not relevant") };
    let backs = if backs.is_empty() { String::new() } else { format!(" · bears on {}", backs.join(", ")) };
    format!(
        "<details class=\"chunk{class}\"><summary>{}: {word}{backs} <span class=\"id\">{}</span></summary>\
         <div class=\"text\">{body}</div></details>",
        place + 1,
        escape(&chunk.id)
    )
}

/// The beginning of a long text, saying what is left out.
fn cut(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(LENGTH) else { return text.to_owned() };
    format!("{} … ({} more characters)", &text[..end], text[end..].chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_say_what_is_left_out() {
        assert_eq!(cut("kurz"), "kurz");
        let long = cut(&"é".repeat(LENGTH + 5));
        assert!(long.ends_with("é … (5 more characters)"), "{}", &long[long.len() - 40..]);
    }
}
