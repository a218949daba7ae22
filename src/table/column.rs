//! Column contracts: what a table must hold, checked where data enters.

use polars::prelude::{DataFrame, DataType};

use crate::error::{Error, Result};

/// What values a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// True or false.
    Boolean,
}

/// One column of a typed table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether the table needs it.
    pub required: bool,
    /// Whether a value may be missing.
    pub nullable: bool,
    /// What it means.
    pub doc: &'static str,
}

impl Column {
    /// A required column without missing values.
    #[must_use]
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, required: true, nullable: false, doc }
    }

    /// A required column whose values may be missing; null means "not applicable" or "unknown", as `doc` says.
    #[must_use]
    pub const fn nullable(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, required: true, nullable: true, doc }
    }

    /// A column that a table may lack.
    #[must_use]
    pub const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, required: false, nullable: true, doc }
    }
}

impl Kind {
    fn accepts(self, found: &DataType) -> bool {
        match self {
            Self::Text => matches!(found, DataType::String),
            Self::Integer => found.is_integer(),
            Self::Number => found.is_primitive_numeric(),
            Self::Boolean => matches!(found, DataType::Boolean),
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "whole numbers",
            Self::Number => "numbers",
            Self::Boolean => "true or false",
        }
    }
}

/// Checks a frame against a table's columns.
///
/// # Errors
/// Names the table, the column, what was expected and what was found.
///
/// ```
/// use claimlab::polars::prelude::*;
/// use claimlab::table::QaPairs;
/// let frame = df!("question_id" => ["q1"], "question" => ["Who?"])?;
/// let error = QaPairs::new(frame).unwrap_err().to_string();
/// assert!(error.contains("QaPairs") && error.contains("reference_answer"), "{error}");
/// # Ok::<(), claimlab::Error>(())
/// ```
pub fn validate(table: &str, columns: &[Column], frame: &DataFrame) -> Result<()> {
    for column in columns {
        let Ok(found) = frame.column(column.name) else {
            if !column.required {
                continue;
            }
            let present: Vec<&str> = frame.get_column_names().iter().map(|name| name.as_str()).collect();
            return Err(Error::input(format!(
                "table {table}: column {:?} is missing; found the columns {present:?}",
                column.name
            ))
            .help(format!("add {:?} ({}: {})", column.name, column.kind.describe(), column.doc)));
        };
        let all_null = found.null_count() == found.len();
        if !column.kind.accepts(found.dtype()) && !(all_null && column.nullable) {
            return Err(Error::input(format!(
                "table {table}: column {:?} holds {}, expected {}",
                column.name,
                found.dtype(),
                column.kind.describe()
            ))
            .help(format!("cast the column; it means: {}", column.doc)));
        }
        if !column.nullable && found.null_count() > 0 {
            return Err(Error::input(format!(
                "table {table}: column {:?} lacks a value in {} of {} rows",
                column.name,
                found.null_count(),
                found.len()
            ))
            .help(format!("fill or drop these rows; the column means: {}", column.doc)));
        }
    }
    Ok(())
}
