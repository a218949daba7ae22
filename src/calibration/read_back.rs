//! Labels that come back from reviewers.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::queue::ReviewQueue;
use crate::error::{Error, Result};
use crate::table::{
    Column, CriterionLabels, FrameBuilder, Kind, Verdict, floats, integers, read_table, texts, validate,
};

/// What came back on one item.
struct Returned {
    item: String,
    digest: String,
    label: Option<String>,
    reason: Option<String>,
}

impl ReviewQueue {
    /// Reads what a reviewer sent back: the form's `.json`, or the filled-in `.csv` with the annotator's name. Labels carry
    /// why and how probably each answer was selected; what was left open is a row without label.
    ///
    /// # Errors
    /// When the file belongs to another queue, the texts in the form are not those that were sent, an item is unknown
    /// or stands twice, a label is neither PASS nor FAIL, or nobody signed.
    pub fn read_back(&self, path: impl AsRef<Path>, annotator: &str) -> Result<CriterionLabels> {
        let path = path.as_ref();
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        let (who, returned) = if is_json { self.json(path)? } else { (String::new(), csv(path)?) };
        let who = if annotator.trim().is_empty() { who } else { annotator.trim().to_owned() };
        if who.trim().is_empty() {
            return Err(Error::input(format!("{}: nobody signed it", path.display()))
                .help("give the annotator's name, in the form or to read_back"));
        }
        self.labels(&who, &returned).map_err(|error| error.context(format!("reading {}", path.display())))
    }

    fn json(&self, path: &Path) -> Result<(String, Vec<Returned>)> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
        let broken = |why: String| {
            Error::input(format!("{}: {why}", path.display())).help("ask for the file that the form's button saves")
        };
        let value: Value = serde_json::from_str(&text).map_err(|error| broken(format!("not JSON: {error}")))?;
        let queue = value["queue"].as_str().ok_or_else(|| broken("it does not say which queue it is of".to_owned()))?;
        if queue != self.name() {
            return Err(broken(format!("it is of the queue {queue:?}, not of {:?}", self.name())));
        }
        let labels = value["labels"].as_array().ok_or_else(|| broken("it has no list of labels".to_owned()))?;
        let mut returned = Vec::new();
        for (place, one) in labels.iter().enumerate() {
            let optional = |name: &str| match &one[name] {
                Value::Null => Ok(None),
                Value::String(text) => Ok(Some(text.clone())),
                other => Err(broken(format!("label {}: {name:?} is {other}, expected text", place + 1))),
            };
            let required =
                |name: &str| optional(name)?.ok_or_else(|| broken(format!("label {}: {name:?} is missing", place + 1)));
            returned.push(Returned {
                item: required("item_id")?,
                digest: required("text_digest")?,
                label: optional("label")?,
                reason: optional("reason")?,
            });
        }
        Ok((value["annotator"].as_str().unwrap_or_default().to_owned(), returned))
    }

    fn labels(&self, who: &str, returned: &[Returned]) -> Result<CriterionLabels> {
        let items = self.items();
        let frame = items.frame();
        let (ids, criteria, systems) =
            (texts(frame, "item_id")?, texts(frame, "criterion_id")?, texts(frame, "system")?);
        let (attempts, reasons) = (integers(frame, "attempt")?, texts(frame, "selected_because")?);
        let probabilities = floats(frame, "selection_probability")?;
        let places: HashMap<&str, usize> =
            ids.iter().enumerate().filter_map(|(place, id)| Some((id.as_deref()?, place))).collect();
        let mut found: Vec<Option<&Returned>> = vec![None; ids.len()];
        for one in returned {
            let place = *places.get(one.item.as_str()).ok_or_else(|| {
                Error::input(format!("item {:?} is not in this queue", one.item))
                    .help("the file was edited, or is of another queue")
            })?;
            if one.digest != self.shown[place].digest {
                return Err(Error::input(format!(
                    "item {:?}: the text that was judged is not the one that was sent",
                    one.item
                ))
                .help("the form was edited by hand; send it again"));
            }
            if let Some(label) = one.label.as_deref().filter(|label| Verdict::parse(label).is_none()) {
                return Err(Error::input(format!(
                    "item {:?}: the label is {label:?}, expected PASS or FAIL",
                    one.item
                )));
            }
            if found[place].replace(one).is_some() {
                return Err(Error::input(format!("item {:?} stands twice", one.item)));
            }
        }
        let label = |one: &Option<&Returned>| {
            one.and_then(|one| one.label.as_deref()).and_then(Verdict::parse).map(Verdict::as_str)
        };
        CriterionLabels::new(
            FrameBuilder::new()
                .text_or_null("criterion_id", &criteria)
                .text_or_null("system", &systems)
                .integer_or_null("attempt", &attempts)
                .text("annotator", &vec![who; ids.len()])
                .text_or_null("label", &found.iter().map(label).collect::<Vec<_>>())
                .text_or_null(
                    "reason",
                    &found.iter().map(|one| one.and_then(|one| one.reason.as_ref())).collect::<Vec<_>>(),
                )
                .text_or_null("selected_because", &reasons)
                .number("selection_probability", &probabilities)
                .build()?,
        )
    }
}

fn csv(path: &Path) -> Result<Vec<Returned>> {
    const COLUMNS: &[Column] = &[
        Column::required("item_id", Kind::Text, "as the queue wrote it"),
        Column::required("text_digest", Kind::Text, "as the queue wrote it"),
        Column::nullable("label", Kind::Text, "PASS or FAIL"),
        Column::nullable("reason", Kind::Text, "the annotator's words"),
    ];
    let frame = read_table(COLUMNS, path)?;
    validate("the review queue", COLUMNS, &frame)
        .map_err(|error| error.context(format!("reading {}", path.display())))?;
    let (ids, digests) = (texts(&frame, "item_id")?, texts(&frame, "text_digest")?);
    let (labels, reasons) = (texts(&frame, "label")?, texts(&frame, "reason")?);
    let filled = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    Ok((0..frame.height())
        .map(|row| Returned {
            item: ids[row].clone().unwrap_or_default(),
            digest: digests[row].clone().unwrap_or_default(),
            label: filled(labels[row].clone()),
            reason: filled(reasons[row].clone()),
        })
        .collect())
}
