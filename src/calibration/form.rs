//! The form that a lawyer opens offline.

use super::queue::Shown;
use crate::table::escape;

/// Text as a browser shows it: one kind of line end, no control characters.
pub(super) fn plain(text: Option<&str>) -> String {
    let text = text.unwrap_or_default().replace("\r\n", "\n").replace('\r', "\n");
    text.chars()
        .map(|letter| if letter.is_control() && !matches!(letter, '\n' | '\t') { '\u{fffd}' } else { letter })
        .collect()
}

/// A digest that the form's own script can make of what is on the screen: 64 bits by FNV-1a, over UTF-8, a zero byte
/// after each text. It tells an edited form from an untouched one; it is no protection from an adversary.
pub(super) fn digest(texts: &[&str]) -> String {
    let half = |seed: u32| {
        let mut hash = seed;
        for text in texts {
            for byte in text.bytes().chain([0]) {
                hash = (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
            }
        }
        hash
    };
    format!("{:08x}{:08x}", half(2_166_136_261), half(3_735_928_559))
}

const STYLE: &str = include_str!("form.css");
const SCRIPT: &str = include_str!("form.js");

/// The whole form.
pub(super) fn html(queue: &str, shown: &[Shown]) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Review of {} answers</title><style>{STYLE}</style></head><body data-queue=\"{}\">\
         <h1>Review of {} answers · Examen de {} réponses</h1>\
         <p>Decide for each answer whether it satisfies the criterion: PASS or FAIL. Leave open what you cannot decide, \
         and say why. Your entries stay in this browser until you save them; send the saved file back.</p>\
         <p lang=\"fr\">Décidez pour chaque réponse si elle satisfait au critère : PASS ou FAIL. Laissez ouvert ce que \
         vous ne pouvez trancher, et dites pourquoi. Rien n’est envoyé ; renvoyez le fichier enregistré.</p>",
        shown.len(),
        escape(queue),
        shown.len(),
        shown.len(),
    );
    for (place, one) in shown.iter().enumerate() {
        page.push_str(&article(place + 1, one));
    }
    page.push_str(&format!(
        "<footer>Name / Nom <input type=\"text\" id=\"who\" autocomplete=\"name\"> \
         <span id=\"count\"></span> <button id=\"save\">Save / Enregistrer</button></footer>\
         <noscript>This form needs JavaScript.</noscript><script>{SCRIPT}</script></body></html>\n"
    ));
    page
}

fn article(number: usize, one: &Shown) -> String {
    let part = |title: &str, class: &str, text: &str| {
        format!("<div class=\"k\">{title}</div><div class=\"t {class}\">{}</div>", escape(text))
    };
    let references =
        one.references.as_deref().map_or_else(String::new, |text| part("References · Pièces", "references", text));
    let choice = |value: &str, title: &str, checked: &str| {
        format!("<label><input type=\"radio\" name=\"{}\" value=\"{value}\"{checked}> {title}</label>", one.item_id)
    };
    format!(
        "<article data-item=\"{}\"><div class=\"n k\">{number}</div>{}{references}{}{}<div>{}{}{}</div>\
         <textarea placeholder=\"Why? / Pourquoi ?\" aria-label=\"reason\"></textarea></article>",
        escape(&one.item_id),
        part("Request · Demande", "request", &one.request),
        part("Answer · Réponse", "answer", &one.answer),
        part("Criterion · Critère", "criterion c", &one.criterion),
        choice("PASS", "PASS", ""),
        choice("FAIL", "FAIL", ""),
        choice("", "open / ouvert", " checked"),
    )
}
