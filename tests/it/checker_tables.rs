//! What a checker did to people's labels, as Markdown. Shared with `benches/small_model_checker.rs`.

use claimlab::metrics::ConfusionMatrix;

/// A share in per cent.
pub fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.1}", value * 100.0))
}

/// A number to three digits.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// One set: the matrix with precision, recall and F1 of each label, then the whole.
pub fn markdown(title: &str, matrix: &ConfusionMatrix) -> String {
    let labels = matrix.labels();
    let mut text = format!("{title}\n\n| given \\ said |");
    labels.iter().for_each(|label| text += &format!(" {label} |"));
    text += " precision % | recall % | F1 % |\n|---|";
    text += &"---:|".repeat(labels.len() + 3);
    for label in &labels {
        text += &format!("\n| {label} |");
        labels.iter().for_each(|said| text += &format!(" {} |", matrix.count(label, said)));
        let shares = [matrix.precision(label), matrix.recall(label), matrix.f1(label)];
        shares.iter().for_each(|share| text += &format!(" {} |", percent(*share)));
    }
    text + &format!(
        "\n\n{} of {} right: accuracy {} % (always the majority label: {} %), balanced accuracy {}, macro F1 {}, kappa {}, \
         MCC {}.\n",
        matrix.correct(),
        matrix.total(),
        percent(matrix.accuracy()),
        percent(matrix.majority()),
        number(matrix.balanced_accuracy()),
        number(matrix.macro_f1()),
        number(matrix.kappa()),
        number(matrix.mcc()),
    )
}
