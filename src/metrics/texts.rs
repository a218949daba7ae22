//! Columns of text as slices: millions of rows are compared without a copy and without a call for each of them.

use std::ops::Range;

use polars::prelude::{DataFrame, DataType, Int64Type, PolarsDataType, StringType};
use rayon::prelude::*;

use crate::error::Result;

/// A text column in one piece, of which whole tables made of many batches are pieced together.
#[derive(Debug)]
pub(super) struct Texts(Option<<StringType as PolarsDataType>::Array>);

impl Texts {
    pub fn read(frame: &DataFrame, name: &str) -> Result<Self> {
        let column = frame.column(name)?;
        if column.null_count() == column.len() {
            return Ok(Self(None));
        }
        Ok(Self(column.str()?.rechunk().downcast_iter().next().cloned()))
    }

    /// The text in a row of the column, if there is one.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&str> {
        self.0.as_ref()?.get(row)
    }

    /// The same with nothing as an empty text.
    #[inline]
    pub fn at(&self, row: usize) -> &str {
        self.get(row).unwrap_or_default()
    }

    /// The few values of a long column in the order of their first appearance.
    pub fn distinct(&self) -> Vec<&str> {
        let Some(array) = &self.0 else { return Vec::new() };
        let of_part = |rows: Range<usize>| {
            let mut found: Vec<&str> = Vec::new();
            let mut last = None;
            for (row, view) in rows.clone().zip(array.views().get(rows).unwrap_or_default()) {
                // Equal views are equal texts, and most rows have the one before's.
                let view = view.as_u128();
                if last == Some(view) {
                    continue;
                }
                if let Some(text) = self.get(row) {
                    last = Some(view);
                    note(&mut found, text);
                }
            }
            found
        };
        let parts: Vec<Vec<&str>> = parts(array.len()).into_par_iter().map(of_part).collect();
        parts.into_iter().flatten().fold(Vec::new(), |mut found, text| {
            note(&mut found, text);
            found
        })
    }
}

fn note<'a>(found: &mut Vec<&'a str>, text: &'a str) {
    if !found.contains(&text) {
        found.push(text);
    }
}

/// A column of whole numbers in one piece.
#[derive(Debug)]
pub(super) struct Numbers(Option<<Int64Type as PolarsDataType>::Array>);

impl Numbers {
    pub fn read(frame: &DataFrame, name: &str) -> Result<Self> {
        let column = frame.column(name)?.cast(&DataType::Int64)?;
        Ok(Self(column.i64()?.rechunk().downcast_iter().next().cloned()))
    }

    /// The number in a row of the column, 1 where there is none: attempts count from 1.
    #[inline]
    pub fn or_one(&self, row: usize) -> i64 {
        let Some(array) = &self.0 else { return 1 };
        let known = array.validity().is_none_or(|known| known.get_bit(row));
        if known { array.value(row) } else { 1 }
    }
}

/// Rows in as many parts as keep every core busy.
pub(super) fn parts(rows: usize) -> Vec<Range<usize>> {
    let step = rows.div_ceil(rayon::current_num_threads().max(1) * 4).max(1024);
    (0..rows).step_by(step).map(|from| from..(from + step).min(rows)).collect()
}

/// Whether two texts are equal. The names in these tables are short, and a call of the system's comparison for each of
/// them would take longer than these few instructions. Ids differ at their ends, which are therefore looked at first.
#[inline]
pub(super) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<16>(), other.last_chunk::<16>()) {
        return end == other_end && one.as_chunks::<16>().0.iter().zip(other.as_chunks::<16>().0).all(|(a, b)| a == b);
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<8>(), other.last_chunk::<8>()) {
        return end == other_end && one.first_chunk::<8>() == other.first_chunk::<8>();
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<4>(), other.last_chunk::<4>()) {
        return end == other_end && one.first_chunk::<4>() == other.first_chunk::<4>();
    }
    one == other
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn texts_of_every_length_are_the_same_only_when_all_bytes_are() {
        for length in 0..70 {
            let text: String = ('a'..='z').cycle().take(length).collect();
            assert!(same(&text, &text.clone()), "{length}");
            assert!(!same(&text, &format!("{text}a")), "{length}");
            for place in 0..length {
                let mut changed = text.clone();
                changed.replace_range(place..=place, "#");
                assert!(!same(&text, &changed) && !same(&changed, &text), "{length}, {place}");
            }
        }
    }

    #[test]
    fn a_column_in_several_pieces_reads_as_one() {
        let piece = |values: &[Option<&str>]| df!("name" => values, "n" => vec![Some(3_i64); values.len()]).unwrap();
        let mut frame = piece(&[Some("b"), None, Some("a text longer than twelve bytes")]);
        for _ in 0..3 {
            frame.vstack_mut(&piece(&[Some("a"), Some("b")])).unwrap();
        }
        let texts = Texts::read(&frame, "name").unwrap();
        let all: Vec<Option<&str>> = (0..frame.height()).map(|row| texts.get(row)).collect();
        let long = Some("a text longer than twelve bytes");
        assert_eq!(all, [Some("b"), None, long, Some("a"), Some("b"), Some("a"), Some("b"), Some("a"), Some("b")]);
        assert_eq!(texts.distinct(), ["b", "a text longer than twelve bytes", "a"]);
        assert_eq!(Numbers::read(&frame, "n").unwrap().or_one(8), 3);
    }

    #[test]
    fn a_column_without_values_has_none() {
        let frame = df!("name" => [None::<&str>; 2], "n" => [None::<i64>, Some(2)]).unwrap();
        let texts = Texts::read(&frame, "name").unwrap();
        assert_eq!((texts.get(1), texts.at(0), texts.distinct().len()), (None, "", 0));
        let numbers = Numbers::read(&frame, "n").unwrap();
        assert_eq!((numbers.or_one(0), numbers.or_one(1)), (1, 2));
        let frame = df!("name" => [Some("a"), None, Some(""), Some("")]).unwrap();
        assert_eq!(Texts::read(&frame, "name").unwrap().distinct(), ["a", ""]);
        assert!(Texts::read(&df!("name" => [1_i64]).unwrap(), "name").is_err());
        assert!(Texts::read(&frame.head(Some(0)), "name").unwrap().distinct().is_empty());
    }
}
