//! SQL over the tables that a session's variables hold.

use claimlab_protocol::Bundle;
use polars::prelude::LazyFrame;
use polars::sql::SQLContext;

use crate::error::{Error, Result};
use crate::table::frame_to_html;

/// Rows that an answer is cut to.
const ROWS: usize = 100;

/// Runs a query over tables registered under their variables' names.
pub(super) fn answer(query: &str, tables: &[(String, LazyFrame)]) -> Result<Bundle> {
    let mut context = SQLContext::new();
    for (name, table) in tables {
        context.register(name, table.clone());
    }
    let frame = context.execute(query).and_then(LazyFrame::collect).map_err(|error| {
        let mut names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let known = if names.is_empty() { "no variable holds a table yet".to_owned() } else { names.join(", ") };
        Error::input(format!("the query fails: {error}")).help(format!("tables of this session: {known}"))
    })?;
    Ok(Bundle::from([
        ("text/html".to_owned(), frame_to_html(&frame, ROWS)),
        ("text/plain".to_owned(), frame.to_string()),
    ]))
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::answer;

    #[test]
    fn queries_run_over_registered_tables_and_faults_name_them() -> crate::Result<()> {
        let scores = df!("system" => ["a", "a", "b"], "value" => [0.0, 1.0, 1.0])?.lazy();
        let tables = [("scores".to_owned(), scores)];
        let told = answer("SELECT system, AVG(value) AS mean FROM scores GROUP BY system ORDER BY system", &tables)?;
        assert!(told["text/html"].contains("0.5") && told["text/html"].contains("mean"));
        let fault = answer("SELECT * FROM score", &tables).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(fault.contains("scores"), "{fault}");
        Ok(())
    }
}
