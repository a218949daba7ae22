//! Keeping what is complete: a result with failures in it is returned, and tried again the next time.

use polars::prelude::DataFrame;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::lab::Lab;

/// The artifact of this specification, read or computed; stored only where there is a lab and `is_complete` holds.
///
/// # Errors
/// What the computation fails with, or the lab's folder.
pub(crate) fn keep(
    lab: Option<&Lab>,
    kind: &str,
    specification: &Value,
    inputs: &[&DataFrame],
    is_complete: &dyn Fn(&DataFrame) -> Result<bool>,
    compute: &mut dyn FnMut() -> Result<DataFrame>,
) -> Result<DataFrame> {
    let Some(lab) = lab else { return compute() };
    let mut incomplete = None;
    let kept = lab.artifact(kind, specification, inputs, &mut || {
        let frame = compute()?;
        if is_complete(&frame)? {
            return Ok(frame);
        }
        incomplete = Some(frame);
        Err(Error::new(ErrorKind::Internal, "incomplete results are not stored"))
    });
    match incomplete {
        Some(frame) => Ok(frame),
        None => kept,
    }
}

/// Whether a text column has no value at all.
///
/// # Errors
/// Never for a frame that was read or built.
pub(crate) fn is_null(frame: &DataFrame, column: &str) -> Result<bool> {
    Ok(frame.column(column).is_ok_and(|column| column.null_count() == column.len()) || frame.column(column).is_err())
}
