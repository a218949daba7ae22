//! Confusion matrices.

use polars::prelude::DataFrame;

use super::Drawn;
use super::canvas::{self, COLUMN, GREY, POINT, SOFT, Words};
use super::means;
use super::palette;
use crate::error::{Error, Result};
use crate::table::{Label, texts};

const CELL: f64 = 26.0 * POINT;
const TOP: f64 = 24.0 * POINT;
const FAILED: &str = "no label";

/// Counts by truth and label found.
struct Counts {
    labels: Vec<String>,
    /// With one more column for checks without a label.
    table: Vec<Vec<usize>>,
    /// Rows whose truth is unknown.
    left_out: usize,
}

pub(in crate::figure) fn draw(frame: &DataFrame, truth: &str, found: &str) -> Drawn {
    let counts = count(frame, truth, found)?;
    let size = counts.labels.len();
    let failed: usize = counts.table.iter().map(|row| row[size]).sum();
    let columns = size + usize::from(failed > 0);
    let names: Vec<String> = counts.labels.iter().map(|name| means::spelled(name)).collect();
    // "precision" stands in the same column as the names.
    let least = Words::right().small().width("precision");
    let labels =
        names.iter().map(|name| Words::right().width(name)).fold(least, f64::max).min(70.0 * POINT) + 17.0 * POINT;
    let wide = ((COLUMN - labels - POINT) / (columns + 1) as f64).min(46.0 * POINT);
    let bottom = TOP + CELL * size as f64;
    let svg = canvas::paint(COLUMN, bottom + CELL * 0.8 + 4.0 * POINT, |canvas| {
        let soft = Words::center().small().color(SOFT);
        let across = soft.bold().fit(&means::spelled(found), wide * columns as f64);
        canvas.text((labels + wide * columns as f64 / 2.0, 6.0 * POINT), &across, soft.bold())?;
        let up = soft.bold().fit(&means::spelled(truth), bottom - TOP);
        canvas.upwards((6.0 * POINT, (TOP + bottom) / 2.0), &up, soft.bold())?;
        for column in 0..columns {
            let x = labels + wide * (column as f64 + 0.5);
            let name = names.get(column).map_or(FAILED, String::as_str);
            let words = Words::center().small();
            canvas.text((x, TOP - 5.0 * POINT), &words.fit(name, wide - POINT), words)?;
        }
        let last = labels + wide * (columns as f64 + 0.5);
        canvas.text((last, TOP - 5.0 * POINT), "recall", soft)?;
        for (row, name) in names.iter().enumerate() {
            let y = TOP + CELL * row as f64;
            let words = Words::right();
            let middle = y + CELL / 2.0;
            canvas.text((labels - 4.0 * POINT, middle), &words.fit(name, labels - 17.0 * POINT), words)?;
            let total: usize = counts.table[row].iter().sum();
            for column in 0..columns {
                let (x, count) = (labels + wide * column as f64, counts.table[row][column]);
                let share = count as f64 / total.max(1) as f64;
                let ground = if column < size { palette::shade(share) } else { palette::tint(GREY, 0.6 * share) };
                canvas.rect((x, y), (wide - 0.8 * POINT, CELL - 0.8 * POINT), ground)?;
                let ink = palette::ink_on(ground);
                let center = x + wide / 2.0;
                canvas.text((center, y + 0.38 * CELL), &count.to_string(), Words::center().bold().color(ink))?;
                let percent = format!("{:.0} %", share * 100.0);
                canvas.text((center, y + 0.70 * CELL), &percent, Words::center().small().color(ink))?;
            }
            let recall = ratio(counts.table[row][row], total);
            canvas.text((last, y + 0.38 * CELL), &recall, Words::center())?;
            canvas.text((last, y + 0.70 * CELL), &format!("of {total}"), soft)?;
        }
        canvas.text((labels - 4.0 * POINT, bottom + 0.32 * CELL), "precision", Words::right().small().color(SOFT))?;
        for column in 0..size {
            let x = labels + wide * (column as f64 + 0.5);
            let total: usize = counts.table.iter().map(|row| row[column]).sum();
            canvas.text((x, bottom + 0.32 * CELL), &ratio(counts.table[column][column], total), Words::center())?;
            canvas.text((x, bottom + 0.64 * CELL), &format!("of {total}"), soft)?;
        }
        let right: usize = (0..size).map(|place| counts.table[place][place]).sum();
        let all: usize = counts.table.iter().flatten().sum();
        canvas.text((last, bottom + 0.32 * CELL), &ratio(right, all), Words::center().bold())?;
        canvas.text((last, bottom + 0.64 * CELL), &format!("of {all}"), soft)
    })?;
    let without =
        if counts.left_out > 0 { format!("; {} rows without truth left out", counts.left_out) } else { String::new() };
    Ok((svg, format!("Confusion matrix of {found} against {truth}, in per cent{without}")))
}

/// A share in per cent; of nothing there is none.
fn ratio(part: usize, whole: usize) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1}", part as f64 * 100.0 / whole as f64) }
}

fn count(frame: &DataFrame, truth: &str, found: &str) -> Result<Counts> {
    let (given, said) = (texts(frame, truth)?, texts(frame, found)?);
    let mut labels: Vec<String> = Vec::new();
    for label in
        Label::ALL.iter().map(|label| label.as_str().to_owned()).chain(given.iter().chain(&said).flatten().cloned())
    {
        let is_used = given.contains(&Some(label.clone())) || said.contains(&Some(label.clone()));
        if is_used && !labels.contains(&label) {
            labels.push(label);
        }
    }
    if labels.is_empty() || labels.len() > 6 {
        return Err(Error::input(format!(
            "{truth:?} and {found:?} hold {} different labels; 1 to 6 can be drawn",
            labels.len()
        ))
        .help("give two columns of labels, such as entailment, neutral and contradiction"));
    }
    let mut table = vec![vec![0; labels.len() + 1]; labels.len()];
    let mut left_out = 0;
    for (given, said) in given.iter().zip(&said) {
        let place = |label: &String| labels.iter().position(|name| name == label);
        match given.as_ref().and_then(place) {
            Some(row) => table[row][said.as_ref().and_then(place).unwrap_or(labels.len())] += 1,
            None => left_out += 1,
        }
    }
    Ok(Counts { labels, table, left_out })
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn a_missing_label_is_a_column_and_a_missing_truth_is_left_out() -> Result<()> {
        let frame = df!(
            "human" => [Some("neutral"), Some("entailment"), Some("entailment"), None],
            "checker" => [Some("entailment"), Some("entailment"), None, Some("neutral")],
        )?;
        let counts = count(&frame, "human", "checker")?;
        assert_eq!(counts.labels, ["entailment", "neutral"]);
        assert_eq!(counts.table, [[1, 0, 1], [1, 0, 0]]);
        assert_eq!(counts.left_out, 1);
        assert_eq!((ratio(1, 3).as_str(), ratio(0, 0).as_str()), ("33.3", "–"));
        Ok(())
    }
}
