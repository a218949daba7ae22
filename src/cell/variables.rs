//! The variables of a session, as evcxr keeps them between cells.

use std::any::Any;
use std::collections::HashMap;

use claimlab_protocol::Variable;
use polars::prelude::{DataFrame, LazyFrame, Series};

use crate::table::{
    Attempts, Checks, Chunks, Claims, Criteria, CriterionFindings, CriterionLabels, GenerationRun, HumanLabels,
    JudgeScores, LabelledClaims, Proposals, QaPairs, RetrievalRun, ReviewItems, Scores, Summary, Tasks, Verdicts,
};

/// The letters of a text that are shown as its content.
const SHOWN: usize = 60;

type Store = HashMap<String, Box<dyn Any + 'static>>;

/// Where the variables are. Read only between cells.
#[derive(Debug)]
pub(super) struct Variables {
    address: usize,
}

impl Variables {
    pub(super) fn at(address: usize) -> Self {
        Self { address }
    }

    fn store(&self) -> Option<&Store> {
        // SAFETY: `serve` was promised that the address is the store's, and that nobody changes it meanwhile.
        unsafe { (self.address as *const Store).as_ref() }
    }

    /// All variables, by name.
    pub(super) fn list(&self) -> Vec<Variable> {
        let mut found: Vec<Variable> = self
            .store()
            .into_iter()
            .flatten()
            .map(|(name, value)| Variable { name: name.clone(), content: content(value.as_ref()) })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Those that hold a table, by name.
    pub(super) fn tables(&self) -> Vec<(String, LazyFrame)> {
        let held = self.store().into_iter().flatten();
        held.filter_map(|(name, value)| table(value.as_ref()).map(|frame| (name.clone(), frame))).collect()
    }
}

macro_rules! typed_tables {
    ($value:expr, $($kind:ty),+ $(,)?) => {
        None$(.or_else(|| $value.downcast_ref::<$kind>().map(<$kind>::frame)))+
    };
}

fn frame(value: &dyn Any) -> Option<&DataFrame> {
    value.downcast_ref::<DataFrame>().or_else(|| {
        typed_tables!(
            value,
            Attempts,
            Checks,
            Chunks,
            Claims,
            Criteria,
            CriterionFindings,
            CriterionLabels,
            GenerationRun,
            HumanLabels,
            JudgeScores,
            LabelledClaims,
            Proposals,
            QaPairs,
            RetrievalRun,
            ReviewItems,
            Scores,
            Summary,
            Tasks,
            Verdicts,
        )
    })
}

fn table(value: &dyn Any) -> Option<LazyFrame> {
    use polars::prelude::IntoLazy;
    match value.downcast_ref::<LazyFrame>() {
        Some(lazy) => Some(lazy.clone()),
        None => frame(value).map(|frame| frame.clone().lazy()),
    }
}

fn content(value: &dyn Any) -> Option<String> {
    if let Some(frame) = frame(value) {
        return Some(format!("{} rows × {} columns", frame.height(), frame.width()));
    }
    if value.is::<LazyFrame>() {
        return Some("a query, not run yet".to_owned());
    }
    if let Some(series) = value.downcast_ref::<Series>() {
        return Some(format!("{} values of {}", series.len(), series.dtype()));
    }
    macro_rules! values {
        ($($kind:ty),+) => { $(if let Some(value) = value.downcast_ref::<$kind>() { return Some(format!("{value:?}")); })+ };
    }
    macro_rules! lists {
        ($($kind:ty),+) => { $(if let Some(list) = value.downcast_ref::<Vec<$kind>>() { return Some(format!("{} elements", list.len())); })+ };
    }
    values!(bool, char, i32, i64, u32, u64, usize, f32, f64, std::time::Duration);
    lists!(String, &'static str, i32, i64, u32, u64, usize, f32, f64, bool, DataFrame);
    let text = value.downcast_ref::<String>().map(String::as_str).or_else(|| value.downcast_ref::<&str>().copied());
    text.map(|text| {
        let letters = text.chars().count();
        let head: String = text.chars().take(SHOWN).collect();
        if letters > SHOWN { format!("{head:?}… ({letters} characters)") } else { format!("{head:?}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_listed_with_their_shapes_and_tables_found() -> crate::Result<()> {
        let mut store: Store = HashMap::new();
        let frame = polars::prelude::df!("a" => [1, 2, 3])?;
        store.insert("frame".into(), Box::new(frame.clone()));
        store.insert("n".into(), Box::new(41_i32));
        store.insert("other".into(), Box::new(std::sync::Mutex::new(1)));
        let variables = Variables::at(std::ptr::from_ref(&store) as usize);
        let listed: Vec<_> = variables.list().into_iter().map(|one| (one.name, one.content)).collect();
        let expected = [
            ("frame".to_owned(), Some("3 rows × 1 columns".to_owned())),
            ("n".to_owned(), Some("41".to_owned())),
            ("other".to_owned(), None),
        ];
        assert_eq!(listed, expected);
        let tables = variables.tables();
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].1.clone().collect()?, frame);
        Ok(())
    }
}
