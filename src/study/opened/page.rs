//! Whole pages: one question, or many with filters.

use super::case::{Case, FACETS};
use super::{style, view};
use crate::figure::Page;
use crate::lab::Fingerprint;
use crate::metrics::Metric;
use crate::table::escape;

/// One question.
pub(super) fn single(case: &Case) -> Page {
    let html =
        format!("<div class=\"claimlab\"><style>{}</style>{}{}</div>", style::STYLE, view::body(case), view::legend());
    Page::new(html, plain(case))
}

fn plain(case: &Case) -> String {
    let mut text = format!("{}: {}\nreference: {}", case.id, case.question, case.reference);
    for side in &case.sides {
        text += &format!("\n{}: {}", side.system, side.response.as_deref().unwrap_or("(no response)"));
    }
    text
}

/// A filter: the name of its class, its label, and whether a question passes.
struct Filter {
    name: String,
    label: String,
    passes: Vec<bool>,
}

/// Many questions. `first` is the metric whose order is chosen at the beginning.
pub(super) fn browse(cases: &[Case], first: Metric) -> Page {
    let facets: Vec<(&str, Vec<Filter>)> = FACETS
        .iter()
        .filter_map(|column| {
            let filters = facet(cases, column);
            (filters.len() > 1).then_some((*column, filters))
        })
        .collect();
    let flags = flags(cases);
    let bodies: String = (0..cases.len()).map(|place| case(&cases[place], place, &facets, &flags)).collect();
    // Names of radio buttons are known to the whole document, so that each page needs its own.
    let salt = Fingerprint::new().text(&bodies).finish();
    let mut rules = style::STYLE.to_owned();
    let mut bars = String::new();
    for (column, filters) in &facets {
        bars += &format!("<div class=\"bar\"><b>{}</b>{}", escape(column), radio(&salt, column, "", "all", true));
        for filter in filters {
            rules += &style::filter(&filter.name);
            let label = format!("{} ({})", filter.label, filter.passes.iter().filter(|passes| **passes).count());
            bars += &radio(&salt, column, &filter.name, &label, false);
        }
        bars += "</div>";
    }
    bars += "<div class=\"bar\"><b>only with</b>";
    for filter in &flags {
        rules += &style::filter(&filter.name);
        let count = filter.passes.iter().filter(|passes| **passes).count();
        bars += &format!(
            "<label><input type=\"checkbox\" autocomplete=\"off\" class=\"i-{}\">{} ({count})</label>",
            filter.name,
            escape(&filter.label)
        );
    }
    bars += "</div><div class=\"bar\"><b>worst first by</b>";
    for metric in Metric::ALL {
        rules += &style::order(&class(metric));
        bars += &radio(&salt, "order", &class(metric), metric.label(), metric == first);
    }
    bars += "</div>";
    let systems: Vec<String> =
        cases.first().map(|case| case.sides.iter().map(|side| escape(&side.system)).collect()).unwrap_or_default();
    let html = format!(
        "<div class=\"claimlab\"><style>{rules}</style><div class=\"head\"><b>{}</b>{bars}{}</div>\
         <div class=\"list\">{bodies}</div><div class=\"count\"> of {} questions shown</div></div>",
        systems.join(" beside "),
        view::legend(),
        cases.len()
    );
    let told = format!("{} questions, worst first by {}", cases.len(), first.label());
    Page::new(html, told)
}

fn class(metric: Metric) -> String {
    format!("m-{}", metric.as_str())
}

fn radio(salt: &str, group: &str, name: &str, label: &str, is_chosen: bool) -> String {
    let chosen = if is_chosen { " checked" } else { "" };
    let class = if name.is_empty() { String::new() } else { format!(" class=\"i-{name}\"") };
    format!(
        "<label><input type=\"radio\" autocomplete=\"off\" name=\"{group}-{salt}\"{class}{chosen}>{}</label>",
        escape(label)
    )
}

/// The values of one column as filters. Class names are numbers: values may hold anything.
fn facet(cases: &[Case], column: &str) -> Vec<Filter> {
    let value = |case: &Case| case.facets.iter().find(|(name, _)| *name == column).map(|(_, value)| value.clone());
    let mut values: Vec<String> = cases.iter().filter_map(value).collect();
    values.sort();
    values.dedup();
    let filter = |(place, label): (usize, String)| Filter {
        name: format!("f-{column}-{place}"),
        passes: cases.iter().map(|case| value(case).as_ref() == Some(&label)).collect(),
        label: spelled(column, &label),
    };
    values.into_iter().enumerate().map(filter).collect()
}

fn spelled(column: &str, value: &str) -> String {
    match (column, value) {
        ("language", "en") => "English".to_owned(),
        ("language", "fr") => "French".to_owned(),
        _ => value.replace('_', " "),
    }
}

fn flags(cases: &[Case]) -> Vec<Filter> {
    let flag = |name: &str, label: &str, has: &dyn Fn(&Case) -> bool| Filter {
        name: name.to_owned(),
        label: label.to_owned(),
        passes: cases.iter().map(has).collect(),
    };
    vec![
        flag("x-against", "a contradiction", &|case| case.sides.iter().any(super::case::Side::has_contradiction)),
        flag("x-failed", "a failed call or check", &|case| case.sides.iter().any(super::case::Side::has_failure)),
        flag("x-silent", "a response without claims", &|case| case.sides.iter().any(|side| side.claims.is_empty())),
    ]
}

fn case(case: &Case, place: usize, facets: &[(&str, Vec<Filter>)], flags: &[Filter]) -> String {
    let filters = facets.iter().flat_map(|(_, filters)| filters).chain(flags);
    let classes: Vec<&str> = filters.filter(|filter| filter.passes[place]).map(|filter| filter.name.as_str()).collect();
    let ranks: Vec<String> =
        Metric::ALL.iter().map(|metric| format!("--{}:{}", class(*metric), case.rank(*metric))).collect();
    let worth: String = Metric::ALL
        .iter()
        .map(|metric| {
            let values: Vec<String> = case
                .sides
                .iter()
                .map(|side| {
                    let value = side.scores.iter().find(|(known, ..)| known == metric).and_then(|(_, value, _)| *value);
                    value.map_or_else(|| "–".to_owned(), |value| format!("{:.0}", value * 100.0))
                })
                .collect();
            format!("<span class=\"worth {}\">{} {}</span>", class(*metric), metric.label(), values.join(" | "))
        })
        .collect();
    format!(
        "<details class=\"case {}\" style=\"{}\"><summary>{worth}{} <span class=\"id\">{}</span></summary>{}</details>",
        classes.join(" "),
        ranks.join(";"),
        escape(&case.question),
        escape(&case.id),
        view::body(case)
    )
}
