//! Between frames and rows: reading columns as values, building frames from values.

use polars::prelude::{Column, DataFrame, DataType, NamedFrom, Series};

use crate::error::{Error, Result};

fn missing(frame: &DataFrame, name: &str) -> Error {
    let present: Vec<&str> = frame.get_column_names().iter().map(|column| column.as_str()).collect();
    Error::input(format!("there is no column {name:?}; the columns are {present:?}"))
}

/// A text column, null as `None`.
///
/// # Errors
/// When the column is missing or does not hold text.
pub fn texts(frame: &DataFrame, name: &str) -> Result<Vec<Option<String>>> {
    let column = frame.column(name).map_err(|_| missing(frame, name))?;
    if column.null_count() == column.len() {
        return Ok(vec![None; column.len()]);
    }
    let values =
        column.str().map_err(|_| Error::input(format!("column {name:?} holds {}, expected text", column.dtype())))?;
    Ok(values.iter().map(|value| value.map(str::to_owned)).collect())
}

/// A numeric column as numbers.
///
/// # Errors
/// When the column is missing or does not hold numbers.
pub fn floats(frame: &DataFrame, name: &str) -> Result<Vec<Option<f64>>> {
    let column = frame.column(name).map_err(|_| missing(frame, name))?;
    let cast = column
        .cast(&DataType::Float64)
        .map_err(|_| Error::input(format!("column {name:?} holds {}, expected numbers", column.dtype())))?;
    Ok(cast.f64()?.iter().collect())
}

/// An integer column.
///
/// # Errors
/// When the column is missing or does not hold whole numbers.
pub fn integers(frame: &DataFrame, name: &str) -> Result<Vec<Option<i64>>> {
    let column = frame.column(name).map_err(|_| missing(frame, name))?;
    let cast = column
        .cast(&DataType::Int64)
        .map_err(|_| Error::input(format!("column {name:?} holds {}, expected whole numbers", column.dtype())))?;
    Ok(cast.i64()?.iter().collect())
}

/// The distinct values of a text column in order of appearance.
///
/// # Errors
/// When the column is missing or does not hold text.
pub fn distinct(frame: &DataFrame, name: &str) -> Result<Vec<String>> {
    let mut seen = std::collections::HashSet::new();
    Ok(texts(frame, name)?.into_iter().flatten().filter(|value| seen.insert(value.clone())).collect())
}

/// Collects columns of equal length into a frame.
#[derive(Debug, Default)]
pub struct FrameBuilder(Vec<Column>);

impl FrameBuilder {
    /// A builder without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text column.
    #[must_use]
    pub fn text<T: AsRef<str>>(mut self, name: &str, values: &[T]) -> Self {
        let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        self.0.push(Series::new(name.into(), values).into());
        self
    }

    /// Adds a text column with missing values.
    #[must_use]
    pub fn text_or_null<T: AsRef<str>>(mut self, name: &str, values: &[Option<T>]) -> Self {
        let values: Vec<Option<&str>> = values.iter().map(|value| value.as_ref().map(AsRef::as_ref)).collect();
        self.0.push(Series::new(name.into(), values).into());
        self
    }

    /// Adds a column of whole numbers.
    #[must_use]
    pub fn integer(mut self, name: &str, values: &[i64]) -> Self {
        self.0.push(Series::new(name.into(), values).into());
        self
    }

    /// Adds a column of whole numbers with missing values.
    #[must_use]
    pub fn integer_or_null(mut self, name: &str, values: &[Option<i64>]) -> Self {
        self.0.push(Series::new(name.into(), values).into());
        self
    }

    /// Adds a column of numbers with missing values.
    #[must_use]
    pub fn number(mut self, name: &str, values: &[Option<f64>]) -> Self {
        self.0.push(Series::new(name.into(), values).into());
        self
    }

    /// Adds a column of true and false with missing values.
    #[must_use]
    pub fn boolean(mut self, name: &str, values: &[Option<bool>]) -> Self {
        self.0.push(Series::new(name.into(), values).into());
        self
    }

    /// The frame.
    ///
    /// # Errors
    /// When two columns differ in length or share a name.
    pub fn build(self) -> Result<DataFrame> {
        Ok(DataFrame::new_infer_height(self.0)?)
    }
}
