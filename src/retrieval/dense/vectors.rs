//! Many vectors of one length, and the nearest of them.

use rayon::prelude::*;

use super::Precision;
use super::dot;
use crate::error::{Error, Result};
use crate::retrieval::acts::Hit;
use crate::retrieval::topk::TopK;

/// Bytes of vectors that are compared with all questions before the next ones are read: they stay in the cache.
const BLOCK: usize = 1 << 18;

#[derive(Debug)]
enum Numbers {
    F32(Vec<f32>),
    /// As the bits of IEEE half-precision numbers.
    F16(Vec<u16>),
}

/// Vectors one after the other.
#[derive(Debug)]
pub(super) struct Vectors {
    width: usize,
    rows: usize,
    numbers: Numbers,
}

impl Vectors {
    pub(super) fn new(width: usize, precision: Precision) -> Result<Self> {
        if width == 0 {
            return Err(Error::input("the model's vectors have no numbers"));
        }
        let numbers = match precision {
            Precision::F32 => Numbers::F32(Vec::new()),
            Precision::F16 if cfg!(feature = "local") => Numbers::F16(Vec::new()),
            Precision::F16 => return Err(Error::feature_disabled("half-precision vectors", "local")),
        };
        Ok(Self { width, rows: 0, numbers })
    }

    pub(super) fn push(&mut self, vector: &[f32]) -> Result<()> {
        check(vector, self.width)?;
        self.rows += 1;
        match &mut self.numbers {
            Numbers::F32(numbers) => numbers.extend_from_slice(vector),
            Numbers::F16(numbers) => numbers.extend(vector.iter().map(|number| dot::half_bits(*number))),
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> u64 {
        match &self.numbers {
            Numbers::F32(numbers) => numbers.len() as u64 * 4,
            Numbers::F16(numbers) => numbers.len() as u64 * 2,
        }
    }

    /// The `k` nearest by dot product for each question. A question whose vector is all zeros has no direction and finds
    /// nothing.
    pub(super) fn search(&self, questions: &[Vec<f32>], k: usize, keep: Option<&[bool]>) -> Result<Vec<Vec<Hit>>> {
        for question in questions {
            check(question, self.width).map_err(|error| error.context("the vector of a question"))?;
        }
        let k = k.min(self.rows);
        let rows_in_block = (BLOCK / (self.width * 4)).max(1);
        let blocks = self.rows.div_ceil(rows_in_block);
        let parts = blocks.min(rayon::current_num_threads() * 4).max(1);
        let blocks_in_part = blocks.div_ceil(parts);
        let found: Vec<Vec<TopK>> = (0..parts)
            .into_par_iter()
            .map(|part| {
                let mut best: Vec<TopK> = questions.iter().map(|_| TopK::new(k)).collect();
                for block in part * blocks_in_part..((part + 1) * blocks_in_part).min(blocks) {
                    let rows = block * rows_in_block..((block + 1) * rows_in_block).min(self.rows);
                    for (question, best) in questions.iter().zip(&mut best) {
                        self.scan(question, rows.clone(), keep, best);
                    }
                }
                best
            })
            .collect();
        let mut results: Vec<TopK> = questions.iter().map(|_| TopK::new(k)).collect();
        for part in found {
            for (result, best) in results.iter_mut().zip(part) {
                best.into_hits().into_iter().for_each(|hit| result.offer(hit));
            }
        }
        let directed = questions.iter().map(|question| question.iter().any(|number| *number != 0.0));
        Ok(results
            .into_iter()
            .zip(directed)
            .map(|(best, directed)| if directed { best.into_hits() } else { Vec::new() })
            .collect())
    }

    fn scan(&self, question: &[f32], rows: std::ops::Range<usize>, keep: Option<&[bool]>, best: &mut TopK) {
        let range = rows.start * self.width..rows.end * self.width;
        let mut offer = |at: usize, score: f32| {
            let passage = rows.start + at;
            if score >= best.threshold() && keep.is_none_or(|keep| keep.get(passage) == Some(&true)) {
                best.offer(Hit { passage, score });
            }
        };
        match &self.numbers {
            Numbers::F32(numbers) => dot::each_f32(question, numbers.get(range).unwrap_or_default(), &mut offer),
            Numbers::F16(numbers) => dot::each_f16(question, numbers.get(range).unwrap_or_default(), &mut offer),
        }
    }
}

fn check(vector: &[f32], width: usize) -> Result<()> {
    if vector.len() != width {
        return Err(Error::input(format!("expected a vector of {width} numbers, found {}", vector.len()))
            .help("all passages and questions must be embedded by one model"));
    }
    match vector.iter().position(|number| !number.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::input(format!("number {at} of the vector is {}, not a finite number", vector[at]))
            .help("the model's weights or its precision are at fault; try full precision")),
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;

    fn random(rows: usize, width: usize) -> Vec<Vec<f32>> {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        (0..rows).map(|_| (0..width).map(|_| random.random_range(-1.0_f32..1.0)).collect()).collect()
    }

    fn filled(rows: &[Vec<f32>], precision: Precision) -> Vectors {
        let mut vectors = Vectors::new(rows[0].len(), precision).unwrap();
        rows.iter().for_each(|row| vectors.push(row).unwrap());
        vectors
    }

    #[test]
    fn the_nearest_are_those_of_a_plain_loop_at_any_width() {
        for width in [1, 7, 8, 33, 384] {
            let rows = random(700, width);
            let questions = random(3, width);
            let plain: Vec<Vec<usize>> = questions
                .iter()
                .map(|question| {
                    let mut scores: Vec<(usize, f64)> = rows
                        .iter()
                        .map(|row| row.iter().zip(question).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum())
                        .enumerate()
                        .collect();
                    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                    scores.iter().take(5).map(|(place, _)| *place).collect()
                })
                .collect();
            let found = filled(&rows, Precision::F32).search(&questions, 5, None).unwrap();
            let places: Vec<Vec<usize>> =
                found.iter().map(|hits| hits.iter().map(|hit| hit.passage).collect()).collect();
            assert_eq!(places, plain, "width {width}");
        }
    }

    #[cfg(feature = "local")]
    #[test]
    fn half_precision_is_near_and_half_the_size() {
        let rows = random(300, 384);
        let questions = random(4, 384);
        let (full, half) = (filled(&rows, Precision::F32), filled(&rows, Precision::F16));
        assert_eq!(half.bytes() * 2, full.bytes());
        let (full, half) = (full.search(&questions, 300, None).unwrap(), half.search(&questions, 300, None).unwrap());
        for (full, half) in full.iter().zip(&half) {
            let score = |place: usize| half.iter().find(|hit| hit.passage == place).unwrap().score;
            assert!(full.iter().all(|hit| (hit.score - score(hit.passage)).abs() < 0.01));
        }
    }

    #[test]
    fn a_filter_leaves_only_what_it_keeps() {
        let rows = random(100, 16);
        let keep: Vec<bool> = (0..100).map(|place| place % 10 == 3).collect();
        let found = filled(&rows, Precision::F32).search(&random(1, 16), 50, Some(&keep)).unwrap();
        assert_eq!(found[0].len(), 10);
        assert!(found[0].iter().all(|hit| hit.passage % 10 == 3));
    }

    #[test]
    fn broken_vectors_are_refused() {
        let mut vectors = Vectors::new(3, Precision::F32).unwrap();
        assert!(vectors.push(&[1.0, f32::NAN, 0.0]).unwrap_err().to_string().contains("number 1"));
        assert!(vectors.push(&[1.0, 0.0]).unwrap_err().to_string().contains("expected a vector of 3"));
        vectors.push(&[1.0, 0.0, 0.0]).unwrap();
        assert!(vectors.search(&[vec![f32::INFINITY, 0.0, 0.0]], 1, None).is_err());
        assert!(vectors.search(&[vec![0.0; 3]], 1, None).unwrap()[0].is_empty());
        assert!(Vectors::new(0, Precision::F32).is_err());
    }
}
