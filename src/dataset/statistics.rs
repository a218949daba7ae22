//! The counts of ClaimRAG-LAW's Table 1, for any benchmark.

use polars::prelude::{AnyValue, CsvWriter, DataFrame, SerWriter};

use crate::error::Result;
use crate::table::{FrameBuilder, LabelledClaims, QaPairs, Show, distinct, texts};

/// Columns of the table: header, column of the question table, value.
const COUNTS: [(&str, &str, &str); 9] = [
    ("P1", "persona", "citizen"),
    ("P2", "persona", "civil_officer"),
    ("P3", "persona", "legal_expert"),
    ("CG1", "category", "general_legal_research"),
    ("CG2", "category", "factual_recall"),
    ("CG3", "category", "false_premise"),
    ("CG4", "category", "jurisdiction_time_specific"),
    ("single", "hops", "single"),
    ("multi", "hops", "multi"),
];

/// What must add up within a row: a sum and its terms.
const SUMS: [(&str, &[&str]); 4] = [
    ("questions", &["P1", "P2", "P3", "no persona"]),
    ("questions", &["CG1", "CG2", "CG3", "CG4", "no category"]),
    ("questions", &["single", "multi", "no hops"]),
    ("valid", &["entailment", "neutral", "contradiction", "no label"]),
];

/// Counts of questions and claims, one row a source and a last row of totals. P1 to P3 are the personas citizen, civil
/// officer and legal expert, CG1 to CG4 the categories general legal research, factual recall, false premise and
/// jurisdiction or time; labels are counted over valid claims.
#[derive(Debug, Clone)]
pub struct Statistics(DataFrame);

impl Statistics {
    pub(super) fn of(questions: &QaPairs, claims: Option<&LabelledClaims>) -> Result<Self> {
        let frame = questions.frame();
        let source_of = |frame: &DataFrame| match texts(frame, "source") {
            Ok(found) => found.into_iter().map(|source| source.unwrap_or_else(|| "unknown".to_owned())).collect(),
            Err(_) => vec!["all".to_owned(); frame.height()],
        };
        let question_sources: Vec<String> = source_of(frame);
        let mut sources: Vec<String> = Vec::new();
        for source in &question_sources {
            if !sources.contains(source) {
                sources.push(source.clone());
            }
        }
        sources.push("total".to_owned());
        let count = |of: &[String], is_member: &[bool]| -> Vec<i64> {
            sources
                .iter()
                .map(|wanted| {
                    let is_wanted = |found: &String| wanted == "total" || found == wanted;
                    of.iter().zip(is_member).filter(|(source, member)| **member && is_wanted(source)).count() as i64
                })
                .collect()
        };
        let mut table = FrameBuilder::new().text("source", &sources);
        table = table.integer("questions", &count(&question_sources, &vec![true; question_sources.len()]));
        for (group, missing) in [("persona", "no persona"), ("category", "no category"), ("hops", "no hops")] {
            // A column that is absent, or empty throughout, is not a column of zeros.
            let Ok(found) = texts(frame, group) else { continue };
            if found.iter().all(Option::is_none) && !found.is_empty() {
                continue;
            }
            let mut is_known = vec![false; found.len()];
            for (header, _, value) in COUNTS.iter().filter(|(_, column, _)| *column == group) {
                let is_member: Vec<bool> = found.iter().map(|found| found.as_deref() == Some(value)).collect();
                for (known, member) in is_known.iter_mut().zip(&is_member) {
                    *known |= member;
                }
                table = table.integer(header, &count(&question_sources, &is_member));
            }
            let is_missing: Vec<bool> = is_known.iter().map(|known| !known).collect();
            if is_missing.contains(&true) {
                table = table.integer(missing, &count(&question_sources, &is_missing));
            }
        }
        if let Some(claims) = claims {
            let frame = claims.frame();
            let claim_sources: Vec<String> = source_of(frame);
            let valid: Vec<Option<bool>> = frame.column("valid")?.bool()?.iter().collect();
            let labels = texts(frame, "label")?;
            let ids = texts(frame, "question_id")?;
            let mut seen = std::collections::HashSet::new();
            let is_first: Vec<bool> = ids.iter().map(|id| seen.insert(id.clone())).collect();
            let of_label = |label: Option<&str>| -> Vec<bool> {
                labels
                    .iter()
                    .zip(&valid)
                    .map(|(found, valid)| *valid == Some(true) && found.as_deref() == label)
                    .collect()
            };
            let columns: [(&str, Vec<bool>); 6] = [
                ("answers with claims", is_first),
                ("claims", vec![true; labels.len()]),
                ("valid", valid.iter().map(|valid| *valid == Some(true)).collect()),
                ("entailment", of_label(Some("entailment"))),
                ("neutral", of_label(Some("neutral"))),
                ("contradiction", of_label(Some("contradiction"))),
            ];
            for (header, is_member) in columns {
                table = table.integer(header, &count(&claim_sources, &is_member));
            }
            let unlabelled = of_label(None);
            if unlabelled.contains(&true) {
                table = table.integer("no label", &count(&claim_sources, &unlabelled));
            }
        }
        Ok(Self(table.build()?))
    }

    /// The table.
    #[must_use]
    pub fn frame(&self) -> &DataFrame {
        &self.0
    }

    /// Whether sums agree: for every row the personas, categories and hops against the questions and the labels against
    /// the valid claims, and for every column the sources against the total. One row a sum.
    ///
    /// # Errors
    /// When a column does not hold counts.
    pub fn sums(&self) -> Result<DataFrame> {
        sums(&self.0, "total", &SUMS)
    }

    /// As a Markdown table.
    #[must_use]
    pub fn markdown(&self) -> String {
        let (header, rows) = self.cells();
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let escape = |cells: &[String]| cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
        let rule: Vec<String> =
            (0..header.len()).map(|place| (if place == 0 { "---" } else { "---:" }).into()).collect();
        let mut text = line(&escape(&header)) + &line(&rule);
        for row in rows {
            text += &line(&escape(&row));
        }
        text
    }

    /// As a LaTeX `tabular` with the rules of `booktabs`.
    #[must_use]
    pub fn latex(&self) -> String {
        let (header, rows) = self.cells();
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| latex_text(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let columns = "r".repeat(header.len().saturating_sub(1));
        let mut text = format!("\\begin{{tabular}}{{l{columns}}}\n\\toprule\n{}\\midrule\n", line(&header));
        for (place, row) in rows.iter().enumerate() {
            if place + 1 == rows.len() && rows.len() > 1 {
                text += "\\midrule\n";
            }
            text += &line(row);
        }
        text + "\\bottomrule\n\\end{tabular}\n"
    }

    /// As CSV with a header line.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn csv(&self) -> Result<String> {
        let mut bytes = Vec::new();
        CsvWriter::new(&mut bytes).include_header(true).finish(&mut self.0.clone())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let header: Vec<String> = self.0.get_column_names().iter().map(|name| name.to_string()).collect();
        let cell = |value: AnyValue<'_>| match value {
            AnyValue::String(text) => text.to_owned(),
            other => other.to_string(),
        };
        let rows = (0..self.0.height())
            .map(|row| self.0.columns().iter().map(|column| cell(column.get(row).unwrap_or(AnyValue::Null))).collect())
            .collect();
        (header, rows)
    }

    /// Shows the table.
    pub fn evcxr_display(&self) {
        self.0.evcxr_display();
    }
}

fn latex_text(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', letter]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Checks sums within the rows and, against the row named `total`, within the columns of a table of counts whose first
/// column names the rows.
pub(super) fn sums(table: &DataFrame, total: &str, within: &[(&str, &[&str])]) -> Result<DataFrame> {
    let names = distinct(table, "source")?;
    let column = |name: &str| -> Option<Vec<i64>> {
        crate::table::integers(table, name).ok()?.into_iter().collect::<Option<Vec<i64>>>()
    };
    let mut rows: Vec<(String, String, i64, i64)> = Vec::new();
    for (sum, terms) in within {
        let Some(sums) = column(sum) else { continue };
        let found: Vec<Vec<i64>> = terms.iter().filter_map(|term| column(term)).collect();
        if found.is_empty() {
            continue;
        }
        for (place, name) in names.iter().enumerate() {
            let added = found.iter().filter_map(|column| column.get(place)).sum();
            rows.push((name.clone(), format!("{sum} = {}", terms.join(" + ")), *sums.get(place).unwrap_or(&0), added));
        }
    }
    if let Some(last) = names.iter().position(|name| name.eq_ignore_ascii_case(total)) {
        for name in table.get_column_names() {
            let Some(counts) = column(name) else { continue };
            let added = counts.iter().enumerate().filter(|(place, _)| *place != last).map(|(_, count)| count).sum();
            rows.push((
                total.to_owned(),
                format!("{name}: total = sum of the sources"),
                *counts.get(last).unwrap_or(&0),
                added,
            ));
        }
    }
    FrameBuilder::new()
        .text("row", &rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>())
        .text("sum", &rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>())
        .integer("stated", &rows.iter().map(|row| row.2).collect::<Vec<_>>())
        .integer("added_up", &rows.iter().map(|row| row.3).collect::<Vec<_>>())
        .boolean("agrees", &rows.iter().map(|row| Some(row.2 == row.3)).collect::<Vec<_>>())
        .build()
}

#[cfg(test)]
mod tests {
    use crate::dataset::Benchmark;

    #[test]
    fn the_samples_sums_agree_and_the_table_is_written_in_every_form() {
        let sample = Benchmark::sample().unwrap();
        let statistics = sample.statistics().unwrap();
        let sums = statistics.sums().unwrap();
        assert!(sums.height() > 20);
        assert!(sums.column("agrees").unwrap().bool().unwrap().iter().all(|agrees| agrees == Some(true)), "{sums}");
        let markdown = statistics.markdown();
        assert!(
            markdown.starts_with("| source | questions | P1 |") && markdown.contains("| total | 78 |"),
            "{markdown}"
        );
        let latex = statistics.latex();
        assert!(latex.contains("\\toprule") && latex.contains("regulation-en & 38 &"), "{latex}");
        assert!(statistics.csv().unwrap().starts_with("source,questions,P1,"));
        assert_eq!(super::latex_text("a_b & 5 %"), "a\\_b \\& 5 \\%");
    }
}
