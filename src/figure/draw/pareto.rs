//! Reliability against cost and against latency.

use polars::prelude::DataFrame;

use super::Drawn;
use super::axis::{self, BELOW, BESIDE, SHARES, Scale};
use super::canvas::{self, COLUMN, Canvas, GREY, LINE, MARK, POINT, SOFT, Words};
use super::palette;
use crate::error::{Error, Result};
use crate::table::{floats, texts};

const HEIGHT: f64 = 3600.0;
const TOP: f64 = 5.0 * POINT;
const BETWEEN: f64 = 8.0 * POINT;
const NOTE: f64 = 9.0 * POINT;
/// What a name may take beside its point.
const NAME: f64 = 2600.0;

/// The axes to the right: column, title, and what lacks it.
const AXES: [(&str, &str, &str); 2] = [
    ("mean_cost_usd", "mean cost of an attempt (US$)", "cost"),
    ("mean_latency_ms", "mean latency of an attempt (s)", "latency"),
];

struct System {
    name: String,
    score: f64,
    interval: Option<(f64, f64)>,
    spent: [Option<f64>; 2],
    front: bool,
}

pub(in crate::figure) fn draw(leaderboard: &DataFrame) -> Drawn {
    let (systems, unscored) = read(leaderboard)?;
    let panels: Vec<usize> =
        (0..AXES.len()).filter(|axis| systems.iter().any(|one| one.spent[*axis].is_some())).collect();
    if panels.is_empty() {
        return Err(Error::input("no system of the leaderboard has both a score and a cost or latency")
            .help("give the attempts the columns cost_usd and latency_ms"));
    }
    let mut notes = vec!["Filled: no other system is as good on score, cost and latency together.".to_owned()];
    for axis in &panels {
        let missing = systems.iter().filter(|one| one.spent[*axis].is_none()).count() + unscored;
        if missing > 0 {
            notes.push(format!("Without a score or a {}: {missing} left out.", AXES[*axis].2));
        }
    }
    let panel = HEIGHT + BELOW + BETWEEN;
    let height = TOP + panel * panels.len() as f64 + NOTE * notes.len() as f64;
    let svg = canvas::paint(COLUMN, height, |canvas| {
        for (place, axis) in panels.iter().enumerate() {
            one_panel(canvas, &systems, *axis, TOP + panel * place as f64)?;
        }
        for (place, note) in notes.iter().enumerate() {
            let y = TOP + panel * panels.len() as f64 + NOTE * (place as f64 + 0.3);
            canvas.text((2.0 * POINT, y), note, Words::left().small().color(SOFT))?;
        }
        Ok(())
    })?;
    let titles: Vec<&str> = panels.iter().map(|axis| AXES[*axis].1).collect();
    Ok((svg, format!("Task Pass^k of {} systems against {}", systems.len(), titles.join(" and "))))
}

fn one_panel(canvas: &Canvas<'_>, systems: &[System], axis: usize, top: f64) -> Result<()> {
    let (left, right, bottom) = (BESIDE, COLUMN - 3.0 * POINT, top + HEIGHT);
    let shown: Vec<(&System, f64)> = systems.iter().filter_map(|one| Some((one, one.spent[axis]?))).collect();
    let spread = Spread::of(shown.iter().map(|(_, spent)| *spent));
    let across = Scale::new(spread.ends, (left + 8.0 * POINT, right - 8.0 * POINT));
    let up = Scale::new((0.0, 1.0), (bottom, top));
    axis::beside(canvas, &up, (left, right), &SHARES, axis::percent, "Task Pass^k (%)")?;
    let label = if spread.logarithmic { |place: f64| amount(10_f64.powf(place)) } else { amount };
    axis::below(canvas, &across, (top, bottom), &spread.ticks(&across), label, AXES[axis].1)?;
    canvas.line((left, bottom), (right, bottom), canvas::INK, canvas::HAIR)?;
    let mut taken: Vec<Area> = Vec::new();
    let at = |system: &System, spent: f64| (across.at(spread.place(spent)), up.at(system.score));
    for (system, spent) in &shown {
        let (x, y) = at(system, *spent);
        taken.push(Area { left: x - MARK, right: x + MARK, top: y - MARK, bottom: y + MARK });
        let color = if system.front { palette::color(0) } else { GREY };
        if let Some((low, high)) = system.interval {
            canvas.line((x, up.at(low)), (x, up.at(high)), color, LINE)?;
        }
        canvas.mark(0, (x, y), color, !system.front)?;
    }
    for (system, spent) in &shown {
        let (x, y) = at(system, *spent);
        let words = Words::left().small();
        let text = words.fit(&system.name, NAME);
        let area = free(&taken, (x, y), words.width(&text), (left, right, top, bottom));
        canvas.text((area.left, (area.top + area.bottom) / 2.0), &text, words)?;
        taken.push(area);
    }
    Ok(())
}

/// A piece of the panel.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// Where a name covers the fewest marks and names: beside its point, or above or below that place.
fn free(taken: &[Area], (x, y): (f64, f64), width: f64, (left, right, top, bottom): (f64, f64, f64, f64)) -> Area {
    let (gap, high) = (MARK + 2.0 * POINT, 6.5 * POINT);
    let mut best: Option<(usize, Area)> = None;
    for step in [0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0] {
        for start in [x + gap, x - gap - width] {
            let middle = y + step * high;
            let area =
                Area { left: start, right: start + width, top: middle - high / 2.0, bottom: middle + high / 2.0 };
            if area.left < left || area.right > right || area.top < top || area.bottom > bottom {
                continue;
            }
            let met = taken.iter().filter(|other| area.meets(other)).count();
            if best.is_none_or(|(least, _)| met < least) {
                best = Some((met, area));
            }
        }
    }
    let start = (x + gap).min(right - width);
    best.map_or(Area { left: start, right: start + width, top: y - high / 2.0, bottom: y + high / 2.0 }, |one| one.1)
}

/// The range of an axis: logarithmic, unless something costs nothing.
struct Spread {
    logarithmic: bool,
    ends: (f64, f64),
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let logarithmic = values.clone().all(|value| value > 0.0);
        let placed = values.map(|value| if logarithmic { value.log10() } else { value });
        let (low, high) =
            placed.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| (low.min(one), high.max(one)));
        let ends = match (logarithmic, high - low) {
            // Less than a factor of three would leave no two round numbers.
            (true, extent) if extent < 0.5 => ((low + high) / 2.0 - 0.25, (low + high) / 2.0 + 0.25),
            (true, _) => (low, high),
            (false, _) => (0.0, if high > 0.0 { high } else { 1.0 }),
        };
        Self { logarithmic, ends }
    }

    fn place(&self, value: f64) -> f64 {
        if self.logarithmic { value.log10() } else { value }
    }

    /// Round numbers: 1, 2 and 5 of each power of ten, or powers of ten alone where those are many.
    fn ticks(&self, scale: &Scale) -> Vec<f64> {
        if !self.logarithmic {
            return scale.ticks(6).into_iter().filter(|tick| (self.ends.0..=self.ends.1).contains(tick)).collect();
        }
        let (from, to) = (self.ends.0.floor() as i32, self.ends.1.ceil() as i32);
        let steps: &[f64] = if self.ends.1 - self.ends.0 > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        (from..=to)
            .flat_map(|power| steps.iter().map(move |step| f64::from(power) + step.log10()))
            .filter(|tick| (self.ends.0..=self.ends.1).contains(tick))
            .collect()
    }
}

/// An amount as short as it can be said.
fn amount(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let text = axis::plain((value * 1e4).round() / 1e4);
        if text == "0" && value != 0.0 { format!("{value:.0e}") } else { text }
    } else {
        format!("{value:.0e}")
    }
}

/// The systems that have a score, and how many have none.
fn read(frame: &DataFrame) -> Result<(Vec<System>, usize)> {
    let names = texts(frame, "system")?;
    let (scores, lows, highs) = (floats(frame, "task_pass_k")?, floats(frame, "ci_low")?, floats(frame, "ci_high")?);
    let spent = [floats(frame, AXES[0].0)?, floats(frame, AXES[1].0)?];
    let fronts = frame
        .column("pareto")
        .map_err(|_| Error::input("there is no column \"pareto\"").help("draw Reliability::leaderboard(k)"))?;
    let fronts = fronts
        .bool()
        .map_err(|_| Error::input(format!("column \"pareto\" holds {}, expected true and false", fronts.dtype())))?
        .clone();
    let mut systems = Vec::new();
    let mut unscored = 0;
    for row in 0..frame.height() {
        for (name, value) in [("mean_cost_usd", spent[0][row]), ("mean_latency_ms", spent[1][row])] {
            if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
                return Err(Error::input(format!("column {name:?}, row {}: {value:?} is no amount", row + 1))
                    .help("what is not known is null"));
            }
        }
        let Some(score) = scores[row] else {
            unscored += 1;
            continue;
        };
        if !(0.0..=1.0).contains(&score) {
            return Err(Error::input(format!("column \"task_pass_k\", row {}: {score} is no share", row + 1))
                .help("Task Pass^k lies between 0 and 1; divide percentages by 100"));
        }
        systems.push(System {
            name: names[row].clone().unwrap_or_else(|| "(none)".to_owned()),
            score,
            interval: lows[row].zip(highs[row]),
            spent: [spent[0][row], spent[1][row].map(|milliseconds| milliseconds / 1000.0)],
            front: fronts.get(row).unwrap_or(false),
        });
    }
    Ok((systems, unscored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short_and_never_a_false_zero() {
        assert_eq!(["0.002", "1500", "0", "1e-5"].map(str::to_owned), [0.002, 1500.0, 0.0, 0.00001].map(amount));
    }

    #[test]
    fn what_costs_nothing_makes_the_axis_linear() {
        assert!(!Spread::of([0.0, 3.0].into_iter()).logarithmic);
        let spread = Spread::of([0.01, 10.0].into_iter());
        assert!(spread.logarithmic);
        assert_eq!(spread.ticks(&Scale::new(spread.ends, (0.0, 100.0))), [-2.0, -1.0, 0.0, 1.0]);
    }

    #[test]
    fn a_name_goes_where_there_is_room() {
        let panel = (0.0, 1000.0, 0.0, 1000.0);
        let beside = free(&[], (100.0, 500.0), 200.0, panel);
        assert!(beside.left > 100.0);
        let other = free(&[beside], (110.0, 500.0), 200.0, panel);
        assert!(!other.meets(&beside));
        assert!(free(&[], (950.0, 500.0), 200.0, panel).right < 950.0);
    }
}
