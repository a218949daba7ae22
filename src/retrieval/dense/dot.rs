//! Dot products, eight numbers at a time where the processor can.

/// Calls `found` with the number of every row and its dot product with the question.
pub(super) fn each_f32(question: &[f32], rows: &[f32], found: &mut impl FnMut(usize, f32)) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor was just asked for both.
        return unsafe { wide::each_f32(question, rows, found) };
    }
    for (at, row) in rows.chunks_exact(question.len().max(1)).enumerate() {
        found(at, plain(question, row));
    }
}

/// The same with rows of half-precision numbers.
pub(super) fn each_f16(question: &[f32], rows: &[u16], found: &mut impl FnMut(usize, f32)) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c") {
        // SAFETY: the processor was just asked for all three.
        return unsafe { wide::each_f16(question, rows, found) };
    }
    let mut full = vec![0.0; question.len()];
    for (at, row) in rows.chunks_exact(question.len().max(1)).enumerate() {
        full.iter_mut().zip(row).for_each(|(full, bits)| *full = from_half_bits(*bits));
        found(at, plain(question, &full));
    }
}

#[cfg(feature = "local")]
pub(super) fn half_bits(number: f32) -> u16 {
    half::f16::from_f32(number).to_bits()
}

#[cfg(feature = "local")]
fn from_half_bits(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

// Without models there are no half-precision vectors: `Vectors::new` refuses them.
#[cfg(not(feature = "local"))]
pub(super) fn half_bits(_number: f32) -> u16 {
    0
}

#[cfg(not(feature = "local"))]
fn from_half_bits(_bits: u16) -> f32 {
    0.0
}

/// Sixteen sums side by side, which compilers turn into vector instructions of whatever width there is.
fn plain(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (a, b) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a.zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m128i, __m256, _mm_loadu_si128, _mm256_add_ps, _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_ps,
        _mm256_setzero_ps, _mm256_storeu_ps,
    };

    /// Numbers in a register, and registers in flight.
    const LANES: usize = 8;
    const STEP: usize = 4 * LANES;

    /// # Safety
    /// The processor must have AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn each_f32(question: &[f32], rows: &[f32], found: &mut impl FnMut(usize, f32)) {
        for (at, row) in rows.chunks_exact(question.len().max(1)).enumerate() {
            let mut sums = [_mm256_setzero_ps(); 4];
            let (a, b) = (question.chunks_exact(STEP), row.chunks_exact(STEP));
            let rest = tail(a.remainder().iter().copied().zip(b.remainder().iter().copied()));
            for (a, b) in a.zip(b) {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: both slices hold STEP numbers, and lane · LANES + LANES is at most that.
                    let (a, b) = unsafe {
                        (_mm256_loadu_ps(a.as_ptr().add(lane * LANES)), _mm256_loadu_ps(b.as_ptr().add(lane * LANES)))
                    };
                    *sum = _mm256_fmadd_ps(a, b, *sum);
                }
            }
            found(at, total(sums) + rest);
        }
    }

    /// # Safety
    /// The processor must have AVX2, FMA and F16C.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) unsafe fn each_f16(question: &[f32], rows: &[u16], found: &mut impl FnMut(usize, f32)) {
        for (at, row) in rows.chunks_exact(question.len().max(1)).enumerate() {
            let mut sums = [_mm256_setzero_ps(); 4];
            let (a, b) = (question.chunks_exact(STEP), row.chunks_exact(STEP));
            let halves = b.remainder().iter().map(|bits| super::from_half_bits(*bits));
            let rest = tail(a.remainder().iter().copied().zip(halves));
            for (a, b) in a.zip(b) {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: both slices hold STEP numbers, and lane · LANES + LANES is at most that.
                    let (a, b) = unsafe {
                        let halves = _mm_loadu_si128(b.as_ptr().add(lane * LANES).cast::<__m128i>());
                        (_mm256_loadu_ps(a.as_ptr().add(lane * LANES)), _mm256_cvtph_ps(halves))
                    };
                    *sum = _mm256_fmadd_ps(a, b, *sum);
                }
            }
            found(at, total(sums) + rest);
        }
    }

    fn tail(pairs: impl Iterator<Item = (f32, f32)>) -> f32 {
        pairs.map(|(a, b)| a * b).sum()
    }

    #[target_feature(enable = "avx2")]
    fn total(sums: [__m256; 4]) -> f32 {
        let sum = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
        let mut lanes = [0.0_f32; LANES];
        // SAFETY: the array holds the eight numbers that are stored.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
        lanes.iter().sum()
    }
}
