//! What was wrong with records, and when that is too much.

use polars::prelude::DataFrame;

use crate::error::{Error, Result};
use crate::table::FrameBuilder;

/// How much may be wrong before a load fails.
#[derive(Debug, Clone, Copy)]
pub(in crate::dataset) enum Tolerance {
    /// Nothing: the first problem is the error.
    Nothing,
    /// This share of records may be unreadable.
    Share(f64),
}

impl Tolerance {
    pub fn share(share: f64) -> Self {
        Self::Share(share)
    }
}

/// The problems of a load, in order.
#[derive(Debug, Clone, Default)]
pub(in crate::dataset) struct Problems {
    rows: Vec<Problem>,
    /// Records and claims that were looked at.
    read: usize,
    dropped: usize,
}

#[derive(Debug, Clone)]
struct Problem {
    file: String,
    record: i64,
    field: String,
    reason: String,
    effect: &'static str,
}

impl Problems {
    /// Counts a record or claim.
    pub fn count(&mut self) {
        self.read += 1;
    }

    /// Something odd in a record (from 1; 0 is the whole file) that did not cost the record.
    pub fn note(&mut self, file: &str, record: usize, field: &str, reason: &str, effect: &'static str) {
        self.rows.push(Problem {
            file: file.to_owned(),
            record: record as i64,
            field: field.to_owned(),
            reason: reason.to_owned(),
            effect,
        });
    }

    /// A record that could not be read.
    pub fn drop_record(&mut self, file: &str, record: usize, field: &str, reason: &str) {
        self.dropped += 1;
        self.note(file, record, field, reason, "dropped");
    }

    /// Fails when there is more than is tolerated.
    pub fn judge(&self, tolerance: Tolerance) -> Result<()> {
        let Some(first) = self.rows.iter().find(|row| row.effect == "dropped").or_else(|| self.rows.first()) else {
            return Ok(());
        };
        let told = format!("{}, record {}: field {:?} {}", first.file, first.record, first.field, first.reason);
        let help = "a question needs query_id, query, gt_answer, question_category and user_persona; a claim record \
            query_id, relevant_chunk and claims";
        match tolerance {
            Tolerance::Nothing => Err(Error::input(told).help(help)),
            Tolerance::Share(share) if self.dropped as f64 > share * self.read.max(1) as f64 => {
                Err(Error::input(format!(
                    "{} of {} records cannot be read, more than {:.0} %; the first: {told}",
                    self.dropped,
                    self.read,
                    share * 100.0
                ))
                .help(help))
            }
            Tolerance::Share(_) => Ok(()),
        }
    }

    /// One row a problem: `file`, `record` (from 1; 0 is the whole file), `field`, `reason`, and `effect`: `dropped`,
    /// `left empty`, `renamed`, `left out` or `read`.
    pub fn frame(&self) -> Result<DataFrame> {
        let column = |of: &dyn Fn(&Problem) -> String| self.rows.iter().map(of).collect::<Vec<String>>();
        FrameBuilder::new()
            .text("file", &column(&|row| row.file.clone()))
            .integer("record", &self.rows.iter().map(|row| row.record).collect::<Vec<_>>())
            .text("field", &column(&|row| row.field.clone()))
            .text("reason", &column(&|row| row.reason.clone()))
            .text("effect", &column(&|row| row.effect.to_owned()))
            .build()
    }
}
