//! Tables as papers print them: grouped columns, sections, intervals under means, flags with their notes.

use std::path::Path;

use polars::prelude::DataFrame;

use super::export::{Export, latex, markdown};
use super::html::escape;
use crate::error::{Error, Result};
use crate::signal;

/// One cell: a text, what stands small below it, and the numbers of its notes.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    below: Option<String>,
    notes: Vec<usize>,
    is_soft: bool,
}

impl Cell {
    /// A cell with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// With an interval below.
    #[must_use]
    pub fn below(self, text: Option<String>) -> Self {
        Self { below: text, ..self }
    }

    /// Printed grey: of others, or over too few values.
    #[must_use]
    pub fn soft(self, is_soft: bool) -> Self {
        Self { is_soft, ..self }
    }

    /// With a note; see [`PaperTable::note`].
    pub fn flag(&mut self, note: usize) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
            self.notes.sort_unstable();
        }
    }
}

#[derive(Debug, Clone)]
enum Row {
    Section(String),
    Cells(Vec<Cell>),
}

/// A table laid out for a paper, with the numbers behind it.
#[derive(Debug, Clone)]
pub struct PaperTable {
    caption: String,
    /// Names over columns, with how many each spans; the first columns that hold text have an empty one.
    groups: Vec<(String, usize)>,
    heads: Vec<String>,
    /// How many columns from the left hold text.
    texts: usize,
    rows: Vec<Row>,
    notes: Vec<String>,
    data: DataFrame,
}

impl PaperTable {
    /// An empty table; `texts` columns from the left hold text, the others numbers.
    #[must_use]
    pub fn new(caption: &str, groups: &[(&str, usize)], heads: &[&str], texts: usize, data: DataFrame) -> Self {
        Self {
            caption: caption.to_owned(),
            groups: groups.iter().map(|(name, span)| ((*name).to_owned(), *span)).collect(),
            heads: heads.iter().map(|head| (*head).to_owned()).collect(),
            texts,
            rows: Vec::new(),
            notes: Vec::new(),
            data,
        }
    }

    /// Begins a section.
    pub fn section(&mut self, name: &str) {
        self.rows.push(Row::Section(name.to_owned()));
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row::Cells(cells));
    }

    /// The number of a note, which is added if it is new.
    pub fn note(&mut self, text: &str) -> usize {
        let place = self.notes.iter().position(|known| known == text).unwrap_or_else(|| {
            self.notes.push(text.to_owned());
            self.notes.len() - 1
        });
        place + 1
    }

    /// All notes, in the order of their numbers.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The numbers behind the table, one row a value.
    #[must_use]
    pub fn data(&self) -> DataFrame {
        self.data.clone()
    }

    /// The table as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        const CELL: &str = "padding:2px 7px;vertical-align:top";
        let mut html = format!(
            "<div style=\"overflow-x:auto\"><table style=\"border-collapse:collapse;font-size:90%;\
             border-top:2px solid #555;border-bottom:2px solid #555\"><caption style=\"caption-side:top;text-align:left;\
             padding:4px 0\">{}</caption><thead><tr>",
            escape(&self.caption)
        );
        for (name, span) in &self.groups {
            let rule = if name.is_empty() { "" } else { ";border-bottom:1px solid #999" };
            html += &format!("<th colspan=\"{span}\" style=\"{CELL};text-align:center{rule}\">{}</th>", escape(name));
        }
        html += "</tr><tr>";
        for (place, head) in self.heads.iter().enumerate() {
            html += &format!(
                "<th style=\"{CELL};text-align:{};border-bottom:1px solid #555\">{}</th>",
                self.align(place),
                escape(head)
            );
        }
        html += "</tr></thead><tbody>";
        for row in &self.rows {
            match row {
                Row::Section(name) => {
                    html += &format!(
                        "<tr><th colspan=\"{}\" style=\"{CELL};text-align:left;border-top:1px solid #bbb\">{}</th></tr>",
                        self.heads.len(),
                        escape(name)
                    );
                }
                Row::Cells(cells) => {
                    html += "<tr>";
                    for (place, cell) in cells.iter().enumerate() {
                        let grey = if cell.is_soft { ";color:#777" } else { "" };
                        let flags = if cell.notes.is_empty() {
                            String::new()
                        } else {
                            let told: Vec<&str> = cell.notes.iter().map(|note| self.notes[note - 1].as_str()).collect();
                            format!(
                                "<sup title=\"{}\" style=\"color:#b34700\">{}</sup>",
                                escape(&told.join("\n")),
                                letters(&cell.notes)
                            )
                        };
                        let below = cell.below.as_ref().map_or_else(String::new, |text| {
                            format!("<br><small style=\"color:#777;white-space:nowrap\">{}</small>", escape(text))
                        });
                        html += &format!(
                            "<td style=\"{CELL};text-align:{}{grey}\">{}{flags}{below}</td>",
                            self.align(place),
                            escape(&cell.text)
                        );
                    }
                    html += "</tr>";
                }
            }
        }
        html += "</tbody></table>";
        for (place, note) in self.notes.iter().enumerate() {
            html += &format!("<div><small><sup>{}</sup> {}</small></div>", letter(place + 1), escape(note));
        }
        html + "</div>"
    }

    fn align(&self, column: usize) -> &'static str {
        if column < self.texts { "left" } else { "right" }
    }

    /// The table as Markdown (the GitHub dialect), its intervals in small type after the means.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut heads: Vec<String> = Vec::new();
        let groups = self.groups.iter().flat_map(|(name, span)| std::iter::repeat_n(name, *span));
        for (head, group) in self.heads.iter().zip(groups) {
            let first = if group.is_empty() { String::new() } else { format!("{}<br>", markdown(group)) };
            heads.push(format!("{first}{}", markdown(head)));
        }
        let rules: Vec<&str> =
            (0..self.heads.len()).map(|place| if place < self.texts { "---" } else { "---:" }).collect();
        let mut text = format!("{}\n\n| {} |\n|{}|\n", markdown(&self.caption), heads.join(" | "), rules.join("|"));
        for row in &self.rows {
            let cells: Vec<String> = match row {
                Row::Section(name) => {
                    let empty = std::iter::repeat_n(String::new(), self.heads.len().saturating_sub(1));
                    std::iter::once(format!("**{}**", markdown(name))).chain(empty).collect()
                }
                Row::Cells(cells) => cells
                    .iter()
                    .map(|cell| {
                        let flags = if cell.notes.is_empty() {
                            String::new()
                        } else {
                            format!("<sup>{}</sup>", letters(&cell.notes))
                        };
                        let below = cell
                            .below
                            .as_ref()
                            .map_or_else(String::new, |text| format!("<br><sub>{}</sub>", markdown(text)));
                        format!("{}{flags}{below}", markdown(&cell.text))
                    })
                    .collect(),
            };
            text += &format!("| {} |\n", cells.join(" | "));
        }
        for (place, note) in self.notes.iter().enumerate() {
            text += &format!("\n<sup>{}</sup> {}\n", letter(place + 1), markdown(note));
        }
        text
    }

    /// The table as a LaTeX `table*`; needs the packages `booktabs`, `graphicx` and `xcolor`. A table that is wider than the
    /// page's text is scaled down to it.
    #[must_use]
    pub fn latex(&self) -> String {
        let rules: String = (0..self.heads.len()).map(|place| if place < self.texts { 'l' } else { 'r' }).collect();
        let mut text = format!(
            "% \\usepackage{{booktabs,graphicx,xcolor}}\n\\begin{{table*}}\n\\centering\\footnotesize\n\
             \\setlength{{\\tabcolsep}}{{3pt}}\n\\caption{{{}}}\n\\sbox0{{%\n\\begin{{tabular}}{{{rules}}}\n\
             \\toprule\n",
            latex(&self.caption)
        );
        let (mut names, mut lines, mut column) = (Vec::new(), String::new(), 1);
        for (name, span) in &self.groups {
            names.push(format!("\\multicolumn{{{span}}}{{c}}{{{}}}", latex(name)));
            if !name.is_empty() {
                lines += &format!("\\cmidrule(lr){{{column}-{}}}", column + span - 1);
            }
            column += span;
        }
        if !lines.is_empty() {
            lines.push('\n');
        }
        text += &format!("{} \\\\\n{lines}", names.join(" & "));
        let heads: Vec<String> = self.heads.iter().map(|head| latex(head)).collect();
        text += &format!("{} \\\\\n\\midrule\n", heads.join(" & "));
        for (place, row) in self.rows.iter().enumerate() {
            match row {
                Row::Section(name) => {
                    let rule = if place > 0 { "\\midrule\n" } else { "" };
                    let span = self.heads.len();
                    text += &format!("{rule}\\multicolumn{{{span}}}{{l}}{{\\textbf{{{}}}}} \\\\\n", latex(name));
                }
                Row::Cells(cells) => text += &latex_row(cells),
            }
        }
        text += "\\bottomrule\n\\end{tabular}}%\n\
                 \\ifdim\\wd0>\\textwidth\\resizebox{\\textwidth}{!}{\\usebox0}\\else\\usebox0\\fi\n";
        if !self.notes.is_empty() {
            text += "\\par\\medskip\n\\begin{minipage}{\\linewidth}\\scriptsize\\raggedright\n";
            for (place, note) in self.notes.iter().enumerate() {
                text += &format!("\\textsuperscript{{{}}} {}\\par\n", letter(place + 1), latex(note));
            }
            text += "\\end{minipage}\n";
        }
        text + "\\end{table*}\n"
    }

    /// The numbers behind the table as CSV, one line a value.
    ///
    /// # Errors
    /// Never for tables of this library.
    pub fn csv(&self) -> Result<String> {
        self.data.to_csv()
    }

    /// Writes the table as what the name ends in: `.html`, `.md`, `.tex` or `.csv`.
    ///
    /// # Errors
    /// When the name ends in something else, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase()).unwrap_or_default();
        let text = match kind.as_str() {
            "html" => format!("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n{}\n", self.html()),
            "md" => self.markdown(),
            "tex" => self.latex(),
            "csv" => self.csv()?,
            _ => {
                return Err(Error::input(format!("a table cannot be saved as {}", path.display()))
                    .help("end the name with .html, .md, .tex or .csv"));
            }
        };
        std::fs::write(path, text).map_err(|error| Error::file(path, &error))
    }

    /// Shows the table.
    pub fn evcxr_display(&self) {
        signal::display(Some(&self.html()), None, &self.markdown());
    }
}

/// A row, and below it a row of intervals in smaller type where there are any.
fn latex_row(cells: &[Cell]) -> String {
    let grey = |cell: &Cell, text: String| {
        if cell.is_soft && !text.is_empty() { format!("\\textcolor{{gray}}{{{text}}}") } else { text }
    };
    let upper: Vec<String> = cells
        .iter()
        .map(|cell| {
            let flags = if cell.notes.is_empty() {
                String::new()
            } else {
                format!("\\textsuperscript{{{}}}", letters(&cell.notes))
            };
            format!("{}{flags}", grey(cell, latex(&cell.text)))
        })
        .collect();
    let mut text = format!("{} \\\\\n", upper.join(" & "));
    if cells.iter().any(|cell| cell.below.is_some()) {
        let lower: Vec<String> = cells
            .iter()
            .map(|cell| cell.below.as_ref().map_or_else(String::new, |below| format!("{{\\tiny {}}}", latex(below))))
            .collect();
        text = format!("{}[-3pt]\n{} \\\\\n", text.trim_end(), lower.join(" & "));
    }
    text
}

/// The letter of a note; after z come aa, ab.
fn letter(number: usize) -> String {
    let place = number.saturating_sub(1);
    let small = |place: usize| char::from(b'a' + (place % 26) as u8);
    if place < 26 { small(place).to_string() } else { format!("{}{}", small(place / 26 - 1), small(place)) }
}

fn letters(notes: &[usize]) -> String {
    notes.iter().map(|note| letter(*note)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    fn table() -> Result<PaperTable> {
        let data = df!("system" => ["<b>&"], "mean" => [0.5])?;
        let mut table = PaperTable::new("A 50 % table", &[("", 1), ("Overall", 1)], &["system", "F1 ↑"], 1, data);
        table.section("ours_1");
        let note = table.note("over 3 < 4 questions");
        assert_eq!((note, table.note("over 3 < 4 questions"), table.note("b")), (1, 1, 2));
        let mut cell = Cell::new("50.0").below(Some("[40, 60]".to_owned()));
        cell.flag(note);
        table.row(vec![Cell::new("<b>&"), cell]);
        Ok(table)
    }

    #[test]
    fn every_form_escapes_flags_and_explains() -> Result<()> {
        let table = table()?;
        let html = table.html();
        assert!(html.contains("&lt;b&gt;&amp;") && html.contains("over 3 &lt; 4 questions") && !html.contains("<b>&"));
        assert!(table.markdown().contains("| &lt;b&gt;&amp; | 50.0<sup>a</sup><br><sub>\\[40, 60\\]</sub> |"));
        let tex = table.latex();
        assert!(
            tex.contains(
                "\\textless{}b\\textgreater{}\\& & 50.0\\textsuperscript{a} \\\\[-3pt]\n & {\\tiny {[}40, 60{]}} \\\\"
            ),
            "{tex}"
        );
        assert!(tex.contains("A 50 \\% table") && tex.contains("F1 $\\uparrow$") && tex.contains("ours\\_1"), "{tex}");
        assert!(
            tex.contains("\\cmidrule(lr){2-2}") && tex.contains("\\textsuperscript{a} over 3 \\textless{} 4 questions"),
            "{tex}"
        );
        assert_eq!(table.csv()?, "system,mean\n<b>&,0.5\n");
        assert!(table.save("table.pdf").is_err());
        Ok(())
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!((letter(1), letter(26), letter(27), letter(53)), ("a".into(), "z".into(), "aa".into(), "ba".into()));
    }
}
