//! ClaimRAG-LAW's Table 2 for any runs, beside the published one.

use polars::prelude::DataFrame;

use super::consistency::{self, Share};
use crate::dataset::published;
use crate::error::Result;
use crate::figure::FEW;
use crate::metrics::Metric;
use crate::table::{Cell, FrameBuilder, PaperTable, Scores, Summary, distinct, floats, integers, texts};

/// The paper's order of columns, with its abbreviations.
const COLUMNS: [(Metric, &str); 11] = [
    (Metric::Precision, "P ↑"),
    (Metric::Recall, "R ↑"),
    (Metric::F1, "F1 ↑"),
    (Metric::ClaimRecall, "CR ↑"),
    (Metric::ContextPrecision, "CP ↑"),
    (Metric::ContextUtilization, "CU ↑"),
    (Metric::NoiseSensitivityInRelevant, "NSr ↓"),
    (Metric::NoiseSensitivityInIrrelevant, "NSir ↓"),
    (Metric::Hallucination, "HL ↓"),
    (Metric::SelfKnowledge, "SK ↓"),
    (Metric::Faithfulness, "FT ↑"),
];
const CAPTION: &str = "RAG systems by RAGChecker's metrics, in per cent, averaged over questions; below each mean of ours \
                       its 95 % interval (bootstrap over questions). P: precision, R: recall, CR: claim recall, CP: \
                       context precision, CU: context utilization, NSr, NSir: noise sensitivity in relevant and \
                       irrelevant chunks, HL: hallucination, SK: self-knowledge, FT: faithfulness. n: values a mean \
                       is over.";
const PUBLISHED: &str = "Published (Das, Abualhaija and Bianculli, ClaimRAG-LAW, arXiv 2605.21071, Table 2): not ours";
/// What rounding four values to one decimal may add up to.
const ROUNDING: f64 = 0.3;

/// One system in one language.
#[derive(Debug, Clone)]
struct Line {
    system: String,
    language: String,
    /// What must determine the retriever's metrics; ours are told apart by their scores alone.
    retriever: Option<String>,
    values: [Option<Value>; 11],
    is_ours: bool,
}

/// One mean, in per cent.
#[derive(Debug, Clone, Copy)]
struct Value {
    mean: f64,
    interval: Option<(f64, f64)>,
    n: Option<i64>,
    undefined: i64,
    failed: i64,
}

/// Table 2 of the paper for these scores, by system and language, with the published rows below. A published row
/// whose system and language are also ours stands right under it, with a flag wherever it lies outside our interval.
///
/// Flags further say: sums that the metrics' identities forbid, retriever metrics that differ between generators,
/// means over part of the questions only, failed calls. Rows over fewer than [`FEW`] values are grey. The numbers
/// behind the table ([`PaperTable::data`], CSV) are in long form, with n, undefined and failed values.
///
/// # Errors
/// When the scores lack a column.
///
/// ```
/// # fn main() -> Result<(), claimlab::Error> {
/// use claimlab::polars::prelude::*;
/// use claimlab::table::Scores;
///
/// let scores = Scores::new(df!(
///     "system" => ["mine", "mine"], "question_id" => ["q1", "q2"], "attempt" => [1_i64, 1],
///     "metric" => ["f1", "f1"], "checker" => ["c", "c"], "value" => [0.5, 0.7],
///     "undefined" => [None::<&str>, None], "language" => ["en", "en"],
/// )?)?;
/// let table = claimlab::study::table_2(&scores)?;
/// assert!(table.latex().contains("\\toprule") && table.markdown().contains("| mine | EN |"));
/// # Ok(())
/// # }
/// ```
pub fn table_2(scores: &Scores) -> Result<PaperTable> {
    let has_languages = scores.frame().column("language").is_ok();
    let summary = scores.by(if has_languages { &["system", "language"] } else { &["system"] })?;
    let ours = ours(&summary, has_languages)?;
    let theirs = theirs()?;
    let groups = [("", 3), ("Overall", 3), ("Retriever", 2), ("Generator", 6)];
    let heads: Vec<&str> = ["system", "lang.", "n"].into_iter().chain(COLUMNS.map(|(_, name)| name)).collect();
    let mut table = PaperTable::new(CAPTION, &groups, &heads, 2, data(&ours, &theirs)?);
    let checkers = distinct(scores.frame(), "checker")?.join(", ");
    table.section(&format!("Ours (checked by {checkers})"));
    let questions = distinct(scores.frame(), "question_id")?.len();
    for line in &ours {
        let cells = row(&mut table, line, None, &ours, questions);
        table.row(cells);
        if let Some(published) = theirs.iter().find(|other| other.is_same(line)) {
            let mut cells = row(&mut table, published, Some(line), &theirs, questions);
            cells[0] = Cell::new(format!("– published: {}", published.system)).soft(true);
            table.row(cells);
        }
    }
    table.section(PUBLISHED);
    for line in theirs.iter().filter(|other| !ours.iter().any(|line| other.is_same(line))) {
        let cells = row(&mut table, line, None, &theirs, questions);
        table.row(cells);
    }
    Ok(table)
}

impl Line {
    fn is_same(&self, other: &Self) -> bool {
        self.system == other.system && self.language == other.language
    }

    fn value(&self, metric: Metric) -> Option<f64> {
        let place = COLUMNS.iter().position(|(known, _)| *known == metric)?;
        self.values[place].map(|value| value.mean)
    }
}

fn ours(summary: &Summary, has_languages: bool) -> Result<Vec<Line>> {
    let frame = summary.frame();
    let (systems, metrics) = (texts(frame, "system")?, texts(frame, "metric")?);
    let languages = if has_languages { texts(frame, "language")? } else { vec![None; frame.height()] };
    let (means, lows, highs) = (floats(frame, "mean")?, floats(frame, "ci_low")?, floats(frame, "ci_high")?);
    let counts = ["n", "n_undefined", "n_failed"].map(|name| integers(frame, name));
    let [n, undefined, failed] = counts;
    let (n, undefined, failed) = (n?, undefined?, failed?);
    let mut lines: Vec<Line> = Vec::new();
    for row in 0..frame.height() {
        let system = systems[row].clone().unwrap_or_default();
        let language = languages[row].as_deref().unwrap_or(if has_languages { "–" } else { "all" }).to_uppercase();
        let known = lines.iter().position(|line| line.system == system && line.language == language);
        let place = known.unwrap_or_else(|| {
            lines.push(Line { system, language, retriever: None, values: [None; 11], is_ours: true });
            lines.len() - 1
        });
        let column = COLUMNS.iter().position(|(metric, _)| Some(metric.as_str()) == metrics[row].as_deref());
        let (Some(column), Some(mean)) = (column, means[row]) else { continue };
        lines[place].values[column] = Some(Value {
            mean: mean * 100.0,
            interval: lows[row].zip(highs[row]).map(|(low, high)| (low * 100.0, high * 100.0)),
            n: n[row],
            undefined: undefined[row].unwrap_or(0),
            failed: failed[row].unwrap_or(0),
        });
    }
    Ok(lines)
}

fn theirs() -> Result<Vec<Line>> {
    let frame = published::table_2()?;
    let (systems, languages, retrievers) =
        (texts(&frame, "system")?, texts(&frame, "language")?, texts(&frame, "retriever")?);
    let columns: Vec<Vec<Option<f64>>> =
        COLUMNS.iter().map(|(metric, _)| floats(&frame, metric.as_str())).collect::<Result<_>>()?;
    let value = |mean| Value { mean, interval: None, n: None, undefined: 0, failed: 0 };
    Ok((0..frame.height())
        .map(|row| {
            let mut values = [None; 11];
            for (place, column) in columns.iter().enumerate() {
                values[place] = column[row].map(value);
            }
            let language = languages[row].clone();
            Line {
                system: systems[row].clone().unwrap_or_default(),
                // The reference row of Ru et al. is of another setting, so nothing is compared with it.
                retriever: language.is_some().then(|| retrievers[row].clone()).flatten(),
                language: language.unwrap_or_else(|| "–".to_owned()),
                values,
                is_ours: false,
            }
        })
        .collect())
}

/// The cells of a line; `ours` is the line of the same system here, `all` are the lines of the same origin.
fn row(table: &mut PaperTable, line: &Line, ours: Option<&Line>, all: &[Line], questions: usize) -> Vec<Cell> {
    let counts: Vec<i64> = line.values.iter().flatten().filter_map(|value| value.n).collect();
    let n = match (counts.iter().min(), counts.iter().max()) {
        (Some(low), Some(high)) if low < high => format!("{low}–{high}"),
        (Some(one), _) => one.to_string(),
        _ => String::new(),
    };
    let is_thin = counts.iter().any(|count| *count < FEW);
    let soft = !line.is_ours || is_thin;
    let mut cells =
        vec![Cell::new(&line.system).soft(soft), Cell::new(&line.language).soft(soft), Cell::new(n).soft(soft)];
    if is_thin {
        let note = table.note(&format!("fewer than {FEW} values: not to be ranked"));
        cells[2].flag(note);
    }
    for (place, value) in line.values.iter().enumerate() {
        let text = value.map_or_else(|| "–".to_owned(), |value| format!("{:.1}", value.mean));
        let interval = value.and_then(|value| value.interval).map(|(low, high)| format!("[{low:.0}, {high:.0}]"));
        let mut cell = Cell::new(text).below(interval).soft(soft);
        if let Some(value) = value.filter(|value| value.failed > 0) {
            cell.flag(table.note(&format!("{} values hidden by failed calls", value.failed)));
        }
        let compared = ours.and_then(|line| line.values[place]).and_then(|value| value.interval);
        if let (Some(value), Some((low, high))) = (value, compared)
            && (value.mean < low || value.mean > high)
        {
            cell.flag(table.note("published value outside our interval"));
        }
        cells.push(cell);
    }
    flag_identities(table, line, &mut cells);
    flag_retrieval(table, line, all, &mut cells);
    if line.is_ours && line.values.iter().flatten().any(|value| value.undefined > 0) {
        let most = line.values.iter().flatten().map(|value| value.undefined).max().unwrap_or(0);
        let note = format!(
            "up to {most} values undefined (an abstention has no precision, for example), left out and never counted as 0; \
             {questions} questions in all"
        );
        cells[2].flag(table.note(&note));
    }
    cells
}

/// Both sums that must be 100, where every term is known and over the same questions.
fn flag_identities(table: &mut PaperTable, line: &Line, cells: &mut [Cell]) {
    for identity in consistency::IDENTITIES {
        let terms: Option<Vec<f64>> = identity.iter().map(|metric| line.value(*metric)).collect();
        let Some(terms) = terms else { continue };
        let sum: f64 = terms.iter().sum();
        if (sum - 100.0).abs() > ROUNDING {
            let names: Vec<&str> = identity.iter().map(|metric| short(*metric)).collect();
            let note = table.note(&format!("{} = {sum:.1}, must be 100", names.join(" + ")));
            for metric in identity {
                if let Some(place) = COLUMNS.iter().position(|(known, _)| known == metric) {
                    cells[place + 3].flag(note);
                }
            }
        }
    }
}

/// Claim recall and context precision depend on the retriever and the reference answers only.
fn flag_retrieval(table: &mut PaperTable, line: &Line, all: &[Line], cells: &mut [Cell]) {
    let Some(retriever) = &line.retriever else { return };
    for (metric, place) in [(Metric::ClaimRecall, 3), (Metric::ContextPrecision, 4)] {
        let same = all.iter().filter(|one| one.retriever.as_ref() == Some(retriever) && one.language == line.language);
        let shares: Vec<Share> = same.filter_map(|one| one.value(metric)).map(Share).collect();
        if let Some((low, high)) = consistency::spread(&shares, 0.15) {
            let note = format!(
                "{} depends on the retriever only, yet for {retriever} in {} it runs from {low:.1} to {high:.1}",
                short(metric),
                line.language
            );
            cells[place + 3].flag(table.note(&note));
        }
    }
}

fn short(metric: Metric) -> &'static str {
    COLUMNS.iter().find(|(known, _)| *known == metric).map_or("", |(_, name)| name.split(' ').next().unwrap_or(name))
}

/// One row a mean, ours and theirs.
fn data(ours: &[Line], theirs: &[Line]) -> Result<DataFrame> {
    let lines = || ours.iter().chain(theirs);
    let cells: Vec<(&Line, Metric, Value)> = lines()
        .flat_map(|line| {
            let pairs = COLUMNS.iter().zip(&line.values);
            pairs.filter_map(move |((metric, _), value)| value.map(|value| (line, *metric, value)))
        })
        .collect();
    let text = |of: &dyn Fn(&Line) -> String| -> Vec<String> { cells.iter().map(|(line, ..)| of(line)).collect() };
    let number = |of: &dyn Fn(&Value) -> Option<f64>| -> Vec<Option<f64>> {
        cells.iter().map(|(.., value)| of(value)).collect()
    };
    let count = |of: &dyn Fn(&Value) -> i64| -> Vec<Option<i64>> {
        cells.iter().map(|(line, _, value)| line.is_ours.then(|| of(value))).collect()
    };
    FrameBuilder::new()
        .text("origin", &text(&|line| if line.is_ours { "ours".to_owned() } else { "published".to_owned() }))
        .text("system", &text(&|line| line.system.clone()))
        .text("language", &text(&|line| line.language.clone()))
        .text("metric", &cells.iter().map(|(_, metric, _)| metric.as_str()).collect::<Vec<_>>())
        .number("percent", &number(&|value| Some(value.mean)))
        .number("ci_low", &number(&|value| value.interval.map(|(low, _)| low)))
        .number("ci_high", &number(&|value| value.interval.map(|(_, high)| high)))
        .integer_or_null("n", &cells.iter().map(|(.., value)| value.n).collect::<Vec<_>>())
        .integer_or_null("n_undefined", &count(&|value| value.undefined))
        .integer_or_null("n_failed", &count(&|value| value.failed))
        .build()
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    fn scores(system: &str, values: &[(Metric, f64)]) -> Result<Scores> {
        let mut rows = (Vec::new(), Vec::new(), Vec::new());
        for question in 0..30 {
            for (metric, value) in values {
                rows.0.push(format!("q{question}"));
                rows.1.push(metric.as_str());
                rows.2.push(*value);
            }
        }
        let n = rows.0.len();
        Scores::new(df!(
            "system" => vec![system; n], "question_id" => rows.0, "attempt" => vec![1_i64; n], "metric" => rows.1,
            "checker" => vec!["c"; n], "value" => rows.2, "undefined" => vec![None::<&str>; n], "language" => vec!["fr"; n],
        )?)
    }

    #[test]
    fn all_published_rows_stand_with_their_inconsistencies_flagged() -> Result<()> {
        let table = table_2(&scores("mine", &[(Metric::F1, 0.5)])?)?;
        let text = table.markdown();
        assert_eq!(
            text.lines()
                .filter(|line| line.contains("Llama3-8B") || line.contains("GPT-") || line.contains("Mixtral"))
                .count(),
            17
        );
        let notes = table.notes().join("\n");
        assert!(notes.contains("HL + SK + FT = 94.0, must be 100"), "{notes}");
        assert!(notes.contains("P + NSr + NSir + HL = 99.4, must be 100"), "{notes}");
        assert!(
            notes.contains("CR depends on the retriever only, yet for BM25 in FR it runs from 64.7 to 90.8"),
            "{notes}"
        );
        // Every row that data/published/README.md names, and no other, breaks an identity.
        assert_eq!(table.notes().iter().filter(|note| note.contains("must be 100")).count(), 3, "{notes}");
        assert_eq!(table.data().height(), 17 * 11 + 1);
        Ok(())
    }

    #[test]
    fn a_published_row_of_the_same_name_stands_under_ours_and_is_compared() -> Result<()> {
        let table = table_2(&scores("BM25 + GPT-4", &[(Metric::Precision, 0.656), (Metric::Recall, 0.1)])?)?;
        let text = table.markdown();
        let at = text.find("| BM25 + GPT-4 | FR | 30").unwrap_or(usize::MAX);
        let under = text[at..].lines().nth(1).unwrap_or_default();
        assert!(under.starts_with("| – published: BM25 + GPT-4 | FR |"), "{text}");
        let outside = table.notes().iter().position(|note| note.contains("outside our interval")).unwrap_or(99);
        let flag = char::from(b'a' + outside as u8);
        assert!(under.contains(&format!("| 82.7<sup>{flag}</sup> |")), "{under}");
        assert!(under.contains("| 65.6"), "{under}");
        assert!(table.latex().contains("\\textcolor{gray}{82.7}\\textsuperscript{"));
        Ok(())
    }
}
