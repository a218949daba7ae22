//! What came out.

use std::collections::HashMap;

use polars::prelude::{DataFrame, IntoLazy, UnionArgs, col, concat, lit};

use crate::analysis::paired_difference;
use crate::error::{Error, ErrorKind, Result};
use crate::figure::Figure;
use crate::table::{FrameBuilder, Scores, Show, Summary, floats, texts};

/// Bootstrap resamples behind every interval of a difference, their coverage, and the seed they are drawn from.
const RESAMPLES: usize = 2000;
const LEVEL: f64 = 0.95;
const SEED: u64 = 20_310_617;
/// What makes a setting.
const KEYS: [&str; 3] = ["retriever", "lexical", "chunking"];

/// One row of the plan.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub retriever: String,
    pub lexical: Option<String>,
    pub chunking: String,
}

impl Setting {
    fn name(&self) -> String {
        let lexical = self.lexical.as_ref().map(|name| format!(" · {name}")).unwrap_or_default();
        format!("{}{lexical} · {}", self.retriever, self.chunking)
    }
}

/// Every question's score under every setting of an ablation.
#[derive(Debug, Clone)]
pub struct Ablated {
    scores: Scores,
}

impl Ablated {
    pub(super) fn new(done: Vec<(Setting, Scores)>) -> Result<Self> {
        let mut parts = Vec::new();
        for (setting, scores) in done {
            let lexical = setting.lexical.clone().unwrap_or_else(|| "–".to_owned());
            parts.push(scores.into_frame().lazy().with_columns([
                lit(setting.name()).alias("system"),
                lit(setting.retriever).alias("retriever"),
                lit(lexical).alias("lexical"),
                lit(setting.chunking).alias("chunking"),
            ]));
        }
        Ok(Self { scores: Scores::new(concat(parts, UnionArgs::default())?.collect()?)? })
    }

    /// One row a setting, question and metric, with the questions' own columns: slice it by anything.
    #[must_use]
    pub fn scores(&self) -> Scores {
        self.scores.clone()
    }

    /// The questions whose text column `column` equals `value`, as in `only("language", "fr")`.
    ///
    /// # Errors
    /// When there is no such column or no such question.
    pub fn only(&self, column: &str, value: &str) -> Result<Self> {
        let scores = self.scores.only(column, value)?;
        if scores.height() == 0 {
            return Err(Error::new(ErrorKind::NotFound, format!("no question has {column} = {value:?}"))
                .help("look at the questions' columns"));
        }
        Ok(Self { scores })
    }

    /// One row a setting, metric and cut-off: mean, 95 % interval over questions, and over how many it is. `k` is null for
    /// metrics of the whole ranking.
    ///
    /// # Errors
    /// When a column is missing, which this type prevents.
    pub fn table(&self) -> Result<DataFrame> {
        let summary = self.scores.by(&KEYS)?;
        let names = texts(summary.frame(), "metric")?;
        let (metrics, ks): (Vec<String>, Vec<Option<i64>>) =
            names.iter().map(|name| split(name.as_deref().unwrap_or_default())).unzip();
        let apart = FrameBuilder::new().text("metric", &metrics).integer_or_null("k", &ks).build()?;
        let frame = summary.into_frame().drop("metric")?;
        let mut columns = frame.columns().to_vec();
        columns.splice(KEYS.len()..KEYS.len(), apart.columns().iter().cloned());
        Ok(DataFrame::new_infer_height(columns)?)
    }

    /// How much every other setting gains over one of them, paired by question: one row a setting, metric and cut-off,
    /// with the mean difference, its 95 % interval (bootstrap over questions), and over how many questions it is. The
    /// baseline is named by retriever, lexical setting (`"–"` where there is none) and chunking.
    ///
    /// # Errors
    /// When there is no such setting.
    pub fn against(&self, retriever: &str, lexical: &str, chunking: &str) -> Result<DataFrame> {
        let frame = self.scores.frame();
        let keys: Vec<Vec<Option<String>>> = KEYS.iter().map(|name| texts(frame, name)).collect::<Result<_>>()?;
        let (metrics, values) = (texts(frame, "metric")?, floats(frame, "value")?);
        let mut questions: HashMap<String, usize> = HashMap::new();
        let mut order: Vec<([String; 3], String)> = Vec::new();
        let mut cells: HashMap<([String; 3], String), Vec<(f64, usize)>> = HashMap::new();
        for (row, question) in texts(frame, "question_id")?.into_iter().enumerate() {
            let next = questions.len();
            let question = *questions.entry(question.unwrap_or_default()).or_insert(next);
            let of = |column: usize| keys.get(column).and_then(|column| column.get(row)).cloned().flatten();
            let key = [0, 1, 2].map(|column| of(column).unwrap_or_default());
            let cell = (key, metrics.get(row).cloned().flatten().unwrap_or_default());
            if !cells.contains_key(&cell) {
                order.push(cell.clone());
            }
            let values = values.get(row).copied().flatten().map(|value| (value, question));
            cells.entry(cell).or_default().extend(values);
        }
        let baseline = [retriever, lexical, chunking].map(str::to_owned);
        if !order.iter().any(|(key, _)| *key == baseline) {
            let mut known: Vec<String> = order.iter().map(|(key, _)| format!("{key:?}")).collect();
            known.dedup();
            return Err(Error::new(ErrorKind::NotFound, format!("the ablation has no setting {baseline:?}"))
                .help(format!("it has {}", known.join(", "))));
        }
        differences(&order, &cells, &baseline)
    }

    /// One metric's means with intervals: a row a cut-off, a colour a retriever and lexical setting, a panel a chunking.
    ///
    /// # Errors
    /// When there is no such metric, there are more colours than can be told apart, or this build draws nothing.
    pub fn figure(&self, metric: &str) -> Result<Figure> {
        let wanted = format!("{metric}@");
        let summary = self.scores.by(&KEYS)?.into_frame();
        let names = texts(&summary, "metric")?;
        let keep: Vec<bool> = names
            .iter()
            .map(|name| name.as_deref().is_some_and(|name| name.starts_with(&wanted) || name == metric))
            .collect();
        if !keep.contains(&true) {
            return Err(Error::new(ErrorKind::NotFound, format!("the ablation has no metric {metric:?}"))
                .help("choose recall, precision, ndcg, mrr or map"));
        }
        let (retrievers, lexical) = (texts(&summary, "retriever")?, texts(&summary, "lexical")?);
        let labels: Vec<String> = retrievers
            .into_iter()
            .zip(lexical)
            .map(|(retriever, lexical)| label(&retriever.unwrap_or_default(), &lexical.unwrap_or_default()))
            .collect();
        let labels = FrameBuilder::new()
            .text("setting", &labels)
            .boolean("keep", &keep.into_iter().map(Some).collect::<Vec<_>>());
        let mut columns = summary.columns().to_vec();
        columns.extend(labels.build()?.columns().iter().cloned());
        let kept = DataFrame::new_infer_height(columns)?.lazy().filter(col("keep")).collect()?;
        Figure::intervals(&Summary::new(kept)?, "setting", "chunking")
    }

    /// Shows the table.
    pub fn evcxr_display(&self) {
        match self.table() {
            Ok(table) => table.evcxr_display(),
            Err(error) => crate::signal::display(None, None, &error.to_string()),
        }
    }
}

/// "BM25 · BM25 legal" says it twice.
fn label(retriever: &str, lexical: &str) -> String {
    match lexical {
        "–" => retriever.to_owned(),
        lexical if retriever == "BM25" => lexical.to_owned(),
        lexical => format!("{retriever} · {lexical}"),
    }
}

/// `recall@5` is recall at 5.
fn split(metric: &str) -> (String, Option<i64>) {
    match metric.split_once('@').and_then(|(name, k)| Some((name, k.parse().ok()?))) {
        Some((name, k)) => (name.to_owned(), Some(k)),
        None => (metric.to_owned(), None),
    }
}

type Cells = HashMap<([String; 3], String), Vec<(f64, usize)>>;

fn differences(order: &[([String; 3], String)], cells: &Cells, baseline: &[String; 3]) -> Result<DataFrame> {
    let mut keys: [Vec<String>; 3] = Default::default();
    let (mut metrics, mut ks, mut ns) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers: [Vec<Option<f64>>; 3] = Default::default();
    for cell in order.iter().filter(|(key, _)| key != baseline) {
        let other = cells.get(&(baseline.clone(), cell.1.clone()));
        let found =
            cells.get(cell).zip(other).and_then(|(one, other)| paired_difference(one, other, RESAMPLES, LEVEL, SEED));
        for (column, value) in keys.iter_mut().zip(&cell.0) {
            column.push(value.clone());
        }
        let (metric, k) = split(&cell.1);
        metrics.push(metric);
        ks.push(k);
        let interval = found.map(|found| found.interval);
        let values =
            [interval.map(|one| one.mean), interval.and_then(|one| one.low), interval.and_then(|one| one.high)];
        for (column, value) in numbers.iter_mut().zip(values) {
            column.push(value);
        }
        ns.push(found.map_or(0, |found| found.pairs as i64));
    }
    let mut table = FrameBuilder::new();
    for (name, column) in KEYS.iter().zip(&keys) {
        table = table.text(name, column);
    }
    table = table.text("metric", &metrics).integer_or_null("k", &ks);
    for (name, column) in ["difference", "ci_low", "ci_high"].iter().zip(&numbers) {
        table = table.number(name, column);
    }
    table.integer("n", &ns).build()
}
