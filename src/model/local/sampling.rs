//! The next token from logits.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Chooses tokens for one reply.
#[derive(Debug)]
pub(super) struct Sampler {
    temperature: f64,
    random: ChaCha8Rng,
}

impl Sampler {
    /// Greedy at temperature 0. Otherwise the seed and the attempt's number decide, and nothing else.
    pub(super) fn new(temperature: f64, seed: Option<u64>, attempt: u32) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.unwrap_or(0).to_le_bytes());
        bytes[8..12].copy_from_slice(&attempt.to_le_bytes());
        Self { temperature, random: ChaCha8Rng::from_seed(bytes) }
    }

    pub(super) fn next(&mut self, logits: &[f32]) -> Option<u32> {
        let best = largest(logits)?;
        if self.temperature <= 0.0 {
            return Some(best as u32);
        }
        let top = f64::from(*logits.get(best)?);
        let weights: Vec<f64> =
            logits.iter().map(|logit| ((f64::from(*logit) - top) / self.temperature).exp()).collect();
        let mut left = self.random.random::<f64>() * weights.iter().sum::<f64>();
        for (token, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return Some(token as u32);
            }
        }
        Some(best as u32)
    }
}

/// The place of the largest number, the first of equals; none if a number is not one.
fn largest(logits: &[f32]) -> Option<usize> {
    // In lanes, which the compiler makes vectors of: there are as many logits as the vocabulary has tokens.
    const LANES: usize = 32;
    let (chunks, rest) = logits.as_chunks::<LANES>();
    let (mut tops, mut is_odd) = ([f32::NEG_INFINITY; LANES], [false; LANES]);
    for chunk in chunks {
        for ((top, is_odd), logit) in tops.iter_mut().zip(&mut is_odd).zip(chunk) {
            *top = if *logit > *top { *logit } else { *top };
            *is_odd |= logit.is_nan();
        }
    }
    if is_odd.contains(&true) || rest.iter().any(|logit| logit.is_nan()) {
        return None;
    }
    let top = tops.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    let holds = |chunk: &[f32; LANES]| chunk.iter().fold(false, |found, logit| found | (*logit == top));
    let from = LANES * chunks.iter().position(holds).unwrap_or(chunks.len());
    logits[from..].iter().position(|logit| *logit == top).map(|place| from + place)
}

/// The natural logarithm of the probability that softmax gives one token.
pub(super) fn log_probability(logits: &[f32], token: u32) -> Option<f64> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - top).exp()).sum();
    logits.get(token as usize).map(|logit| f64::from(logit - top) - sum.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_attempt_give_the_same_tokens() {
        let logits = [0.0, 1.0, 0.5, 0.2];
        let draw = |seed, attempt| -> Vec<Option<u32>> {
            let mut sampler = Sampler::new(1.0, Some(seed), attempt);
            (0..20).map(|_| sampler.next(&logits)).collect()
        };
        assert_eq!(draw(1, 1), draw(1, 1));
        assert_ne!(draw(1, 1), draw(1, 2));
        assert_ne!(draw(1, 1), draw(2, 1));
        assert_eq!(Sampler::new(0.0, None, 1).next(&logits), Some(1));
        assert_eq!(Sampler::new(0.0, None, 1).next(&[0.0, f32::NAN]), None);
    }

    #[test]
    fn the_first_of_the_largest_is_found_wherever_it_stands() {
        for length in [1, 31, 32, 100] {
            for place in 0..length {
                let mut logits = vec![-1.0_f32; length];
                logits[place] = 2.0;
                logits[length - 1] = 2.0;
                assert_eq!(largest(&logits), Some(place), "{length}");
                logits[place] = f32::NAN;
                assert_eq!(largest(&logits), None, "{length} {place}");
            }
            assert_eq!(largest(&vec![f32::NEG_INFINITY; length]), Some(0));
        }
        assert_eq!(largest(&[]), None);
    }

    #[test]
    fn frequencies_follow_the_probabilities() {
        let logits = [0.0, 2.0_f32.ln(), f32::NEG_INFINITY];
        let mut sampler = Sampler::new(1.0, None, 1);
        let ones = (0..3000).filter(|_| sampler.next(&logits) == Some(1)).count();
        assert!((1900..2100).contains(&ones), "{ones}");
        assert!((log_probability(&logits, 1).unwrap() - (2.0_f64 / 3.0).ln()).abs() < 1e-6);
    }
}
