//! How the columns of a file are called here.

use polars::prelude::{DataFrame, DataType, IntoColumn, NamedFrom, Series};

use crate::dataset::claimrag;
use crate::error::{Error, Result};
use crate::table::{LabelledClaims, QaPairs, texts};

/// How the columns of a file are called here. Columns that are not named stay as they are.
///
/// ```
/// use claimlab::dataset::ColumnMap;
/// use claimlab::polars::prelude::*;
/// let file = df!("nr" => [1_i64, 2], "frage" => ["Who?", "When?"], "gold" => ["Ann", "1804"])?;
/// let map = ColumnMap::new().column("question_id", "nr").column("question", "frage").column("reference_answer", "gold");
/// let questions = map.constant("language", "en").questions(&file)?;
/// assert_eq!(questions.height(), 2);
/// let error = ColumnMap::new().questions(&file).unwrap_err().to_string();
/// assert!(error.contains("question") && error.contains("frage"), "{error}");
/// # Ok::<(), claimlab::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ColumnMap {
    columns: Vec<(String, String)>,
    values: Vec<(String, String, String)>,
    constants: Vec<(String, String)>,
}

impl ColumnMap {
    /// A map that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The column that is called `name` here is `theirs` in the file.
    #[must_use]
    pub fn column(mut self, name: &str, theirs: &str) -> Self {
        self.columns.push((name.to_owned(), theirs.to_owned()));
        self
    }

    /// In the column `name`, the value `theirs` means `value`. Text values only; others stay as they are.
    #[must_use]
    pub fn value(mut self, name: &str, theirs: &str, value: &str) -> Self {
        self.values.push((name.to_owned(), theirs.to_owned(), value.to_owned()));
        self
    }

    /// Adds a column that holds one value.
    #[must_use]
    pub fn constant(mut self, name: &str, value: &str) -> Self {
        self.constants.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The file's table as questions. Without a column of ids, rows are called `row-1`, `row-2`, ….
    ///
    /// # Errors
    /// When a column is missing, lacks a value, or two questions share an id.
    pub fn questions(&self, file: &DataFrame) -> Result<QaPairs> {
        let known: Vec<&str> = QaPairs::COLUMNS.iter().map(|column| column.name).collect();
        QaPairs::new(unique(self.apply(file, "question_id", &known)?, "question_id")?)
    }

    /// The file's table as labelled claims: `text` is the claim, `context_unit` the premise, `label` the label in any case;
    /// labels that are none of the three are null, and `label_original` keeps them. Without `claim_id` and `question_id`,
    /// rows are called `row-1`, `row-2`, ….
    ///
    /// # Errors
    /// As [`ColumnMap::questions`].
    pub fn claims(&self, file: &DataFrame) -> Result<LabelledClaims> {
        let known: Vec<&str> =
            LabelledClaims::COLUMNS.iter().map(|column| column.name).filter(|name| *name != "valid").collect();
        let mut frame = self.apply(file, "claim_id", &known)?;
        let height = frame.height();
        let ids = texts(&frame, "claim_id")?;
        for name in ["subject", "predicate", "object", "label"] {
            if frame.column(name).is_err() {
                frame.with_column(Series::new(name.into(), vec![None::<String>; height]).into_column())?;
            }
        }
        if frame.column("question_id").is_err() {
            frame.with_column(Series::new("question_id".into(), ids).into_column())?;
        }
        if frame.column("valid").is_err() {
            frame.with_column(Series::new("valid".into(), vec![None::<bool>; height]).into_column())?;
        }
        let original = texts(&frame, "label")?;
        let labels: Vec<Option<&str>> = original
            .iter()
            .map(|label| label.as_deref().and_then(claimrag::spelling_label).map(|label| label.as_str()))
            .collect();
        frame.with_column(Series::new("label_original".into(), original.clone()).into_column())?;
        frame.with_column(Series::new("label".into(), labels).into_column())?;
        LabelledClaims::new(unique(frame, "claim_id")?)
    }

    fn apply(&self, file: &DataFrame, id: &str, known: &[&str]) -> Result<DataFrame> {
        let mut frame = file.clone();
        for (name, theirs) in &self.columns {
            if frame.column(theirs).is_err() {
                let present: Vec<&str> = file.get_column_names().iter().map(|name| name.as_str()).collect();
                return Err(Error::input(format!("the file has no column {theirs:?}; its columns are {present:?}"))
                    .help(format!("name the column that holds {name:?} as the file does")));
            }
            // What stood under our name before makes room.
            if name != theirs && frame.column(name).is_ok() {
                frame.rename(name, format!("file_{name}").as_str().into())?;
            }
            frame.rename(theirs, name.as_str().into())?;
        }
        let height = frame.height();
        for (name, value) in &self.constants {
            frame.with_column(Series::new(name.as_str().into(), vec![value.as_str(); height]).into_column())?;
        }
        if frame.column(id).is_err() {
            let ids: Vec<String> = (1..=height).map(|row| format!("row-{row}")).collect();
            frame.with_column(Series::new(id.into(), ids).into_column())?;
        }
        for name in known {
            // Numbers where text belongs, as in ids, are written out.
            if let Ok(column) = frame.column(name)
                && *column.dtype() != DataType::String
            {
                let cast = column.cast(&DataType::String)?;
                frame.with_column(cast)?;
            }
        }
        for (name, theirs, value) in &self.values {
            let replaced: Vec<Option<String>> = texts(&frame, name)?
                .into_iter()
                .map(|found| if found.as_deref() == Some(theirs) { Some(value.clone()) } else { found })
                .collect();
            frame.with_column(Series::new(name.as_str().into(), replaced).into_column())?;
        }
        Ok(frame)
    }
}

fn unique(frame: DataFrame, id: &str) -> Result<DataFrame> {
    let column = frame.column(id)?;
    let ids = column.str()?;
    let mut seen = std::collections::HashSet::with_capacity(ids.len());
    if let Some(twice) = ids.iter().flatten().find(|id| !seen.insert(*id)) {
        return Err(Error::input(format!("two rows have the {id} {twice:?}"))
            .help("make the ids unique, or leave the column out to have the rows numbered"));
    }
    drop(seen);
    Ok(frame)
}
