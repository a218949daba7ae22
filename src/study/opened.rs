//! One response, opened claim by claim.

use std::collections::HashMap;

use super::Evaluation;
use crate::error::{Error, ErrorKind, Result};
use crate::figure::Page;
use crate::table::{Claims, escape, texts};

/// claim and chunk (or nothing) → label and reason
type Verdicts = HashMap<(String, String), (String, String)>;

impl Evaluation {
    /// A page with the question, both answers, every claim with its verdicts, and the retrieved chunks.
    ///
    /// # Errors
    /// When there is no such question or system.
    pub fn open(&self, question_id: &str, system: &str) -> Result<Page> {
        let absent = |what: &str, name: &str| {
            Error::new(ErrorKind::NotFound, format!("the evaluation has no {what} {name:?}"))
                .help("evaluation.worst(Metric::F1, 10) lists questions and systems")
        };
        let asked = self.questions.only("question_id", question_id)?;
        let answered = self.run.only("question_id", question_id)?.only("system", system)?;
        let (Some(Some(question)), Some(Some(reference))) = (
            texts(asked.frame(), "question")?.into_iter().next(),
            texts(asked.frame(), "reference_answer")?.into_iter().next(),
        ) else {
            return Err(absent("question", question_id));
        };
        let Some(response) = texts(answered.frame(), "response")?.into_iter().next() else {
            return Err(absent("system", system));
        };
        let retriever = texts(answered.frame(), "retriever")?.into_iter().next().flatten().unwrap_or_default();
        let found = self.found.only("question_id", question_id)?.only("retriever", &retriever)?;
        let chunk_ids: Vec<String> = texts(found.frame(), "chunk_id")?.into_iter().flatten().collect();
        let chunk_texts: Vec<String> = texts(found.frame(), "text")?.into_iter().flatten().collect();
        let said = self.response.only("question_id", question_id)?.only("system", system)?;
        let expected = self.reference.only("question_id", question_id)?;
        let mut html = format!(
            "<div style=\"max-width:60em\"><p><b>{}</b> · {}</p><p style=\"font-size:110%\">{}</p>\
             <p><b>Reference answer.</b> {}</p><p><b>Response.</b> {}</p>",
            escape(question_id),
            escape(system),
            escape(&question),
            escape(&reference),
            escape(response.as_deref().unwrap_or("(the call failed)")),
        );
        html += &self.claims(
            "Claims of the response",
            &said,
            "response_vs_reference",
            "response_vs_chunks",
            system,
            &chunk_ids,
        )?;
        html += &self.claims(
            "Claims of the reference answer",
            &expected,
            "reference_vs_response",
            "reference_vs_chunks",
            system,
            &chunk_ids,
        )?;
        for (place, (id, text)) in chunk_ids.iter().zip(&chunk_texts).enumerate() {
            html += &format!(
                "<details><summary>Chunk {} · {}</summary><p>{}</p></details>",
                place + 1,
                escape(id),
                escape(text)
            );
        }
        html += "</div>";
        let plain = format!("{question}\nreference: {reference}\nresponse: {}", response.unwrap_or_default());
        Ok(Page::new(html, plain))
    }

    fn claims(
        &self,
        title: &str,
        claims: &Claims,
        against_answer: &str,
        against_chunks: &str,
        system: &str,
        chunks: &[String],
    ) -> Result<String> {
        let answer = self.verdicts(against_answer, system)?;
        let found = self.verdicts(against_chunks, system)?;
        let mut html = format!(
            "<p><b>{title}</b></p><table style=\"border-collapse:collapse\"><thead><tr><th></th>\
             <th style=\"padding:2px 6px\">other answer</th>"
        );
        for place in 1..=chunks.len() {
            html += &format!("<th style=\"padding:2px 6px\">chunk {place}</th>");
        }
        html += "</tr></thead><tbody>";
        let ids = texts(claims.frame(), "claim_id")?.into_iter().flatten();
        for (id, text) in ids.zip(texts(claims.frame(), "text")?.into_iter().flatten()) {
            html += &format!("<tr><td style=\"text-align:left;padding:2px 6px\">{}</td>", escape(&text));
            html += &verdict(answer.get(&(id.clone(), String::new())));
            for chunk in chunks {
                html += &verdict(found.get(&(id.clone(), chunk.clone())));
            }
            html += "</tr>";
        }
        Ok(html + "</tbody></table>")
    }

    fn verdicts(&self, direction: &str, system: &str) -> Result<Verdicts> {
        let checks = self.checks.only("direction", direction)?;
        let frame = checks.frame();
        let systems = texts(frame, "system")?;
        let (chunks, labels) = (texts(frame, "chunk_id")?, texts(frame, "label")?);
        let reasons = if frame.column("reason").is_ok() { texts(frame, "reason")? } else { vec![None; frame.height()] };
        let mut found = HashMap::new();
        for (row, claim) in texts(frame, "claim_id")?.into_iter().enumerate() {
            if systems[row].as_deref().is_none_or(|owner| owner == system) {
                let label = labels[row].clone().unwrap_or_else(|| "failed".to_owned());
                let key = (claim.unwrap_or_default(), chunks[row].clone().unwrap_or_default());
                found.insert(key, (label, reasons[row].clone().unwrap_or_default()));
            }
        }
        Ok(found)
    }
}

/// One cell; colour and letter both tell the label, the reason stands in the tooltip.
fn verdict(found: Option<&(String, String)>) -> String {
    let (sign, color) = match found.map(|(label, _)| label.as_str()) {
        Some("entailment") => ("✓ entailed", "#cfe8d5"),
        Some("contradiction") => ("✗ contradicted", "#f6cfc4"),
        Some("neutral") => ("· neutral", "#eeeeee"),
        _ => ("? failed", "#fff3c4"),
    };
    let reason = found.map_or("", |(_, reason)| reason.as_str());
    format!(
        "<td title=\"{}\" style=\"background:{color};color:#222;padding:2px 6px;text-align:center;white-space:nowrap\">{sign}</td>",
        escape(reason)
    )
}
