//! Activations on the CPU in vector loops; candle computes exponentials and error functions one by one.

use candle_core::{CpuStorage, CustomOp1, InplaceOp1, Layout, Result, Shape, Tensor, bail};

use super::share::{Out, share};

/// Numbers from which on threads are worth their while.
const MANY: usize = 1 << 14;
/// Numbers that are a piece of work where rows do not matter.
const ROW: usize = 1 << 10;

/// Does something with every row, on all threads if there are many numbers; the last row may be shorter.
pub(super) fn each_row(numbers: &mut [f32], width: usize, each: impl Fn(usize, &mut [f32]) + Sync) {
    let width = width.max(1);
    let (length, target) = (numbers.len(), Out::of(numbers));
    let some = |rows: std::ops::Range<usize>| {
        for row in rows {
            // SAFETY: a row is one piece of work's alone.
            each(row, unsafe { target.part(row * width, width.min(length - row * width)) });
        }
    };
    let rows = length.div_ceil(width);
    if length < MANY { some(0..rows) } else { share(rows, some) }
}

/// `silu(gate) · up`, where `both` is (rows, gate and up side by side).
pub(super) fn gated(both: &Tensor) -> Result<Tensor> {
    if both.device().is_cpu() && both.dtype() == candle_core::DType::F32 {
        return both.contiguous()?.apply_op1_no_bwd(&Gated);
    }
    let half = both.dim(1)? / 2;
    both.narrow(1, 0, half)?.contiguous()?.silu()? * both.narrow(1, half, half)?.contiguous()?
}

/// The Gaussian error linear unit with the exact error function, which encoders use.
pub(super) fn gelu(x: Tensor) -> Result<Tensor> {
    if x.device().is_cpu() && x.dtype() == candle_core::DType::F32 && x.is_contiguous() {
        x.inplace_op1(&Gelu)?;
        return Ok(x);
    }
    x.gelu_erf()
}

struct Gated;

impl CustomOp1 for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (CpuStorage::F32(values), Some((from, to))) = (storage, layout.contiguous_offsets()) else {
            bail!("gated needs contiguous f32")
        };
        let (rows, width) = layout.shape().dims2()?;
        let half = width / 2;
        let mut out = vec![0.0_f32; rows * half];
        let values = &values[from..to];
        each_row(&mut out, half, |row, out| {
            let (gate, up) = values[row * width..(row + 1) * width].split_at(half);
            gate_row(gate, up, out);
        });
        Ok((CpuStorage::F32(out), Shape::from((rows, half))))
    }
}

struct Gelu;

impl InplaceOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(values), Some((from, to))) = (storage, layout.contiguous_offsets()) else {
            bail!("gelu needs contiguous f32")
        };
        each_row(&mut values[from..to], ROW, |_, row| gelu_row(row));
        Ok(())
    }
}

/// Compiles a loop for the widest vectors, for wide ones and for any machine, and takes what runs here. The loop is told
/// whether it may call [`fused`].
macro_rules! widened {
    ($seen:vis $name:ident, $plain:ident ( $($argument:ident : $kind:ty),* )) => {
        $seen fn $name($($argument: $kind),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn widest($($argument: $kind),*) {
                    $plain::<true>($($argument),*);
                }
                #[target_feature(enable = "avx2,fma")]
                fn wide($($argument: $kind),*) {
                    $plain::<true>($($argument),*);
                }
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the instructions are there.
                    return unsafe { widest($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the instructions are there.
                    return unsafe { wide($($argument),*) };
                }
            }
            $plain::<false>($($argument),*);
        }
    };
}
pub(super) use widened;

widened!(gate_row, gate_row_plain(gate: &[f32], up: &[f32], out: &mut [f32]));
widened!(pub(super) gelu_row, gelu_row_plain(values: &mut [f32]));

/// `a b + c`: in one step where the loop is compiled for machines that have it; elsewhere that would be a function call.
#[inline(always)]
pub(super) fn fused<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn gate_row_plain<const FUSED: bool>(gate: &[f32], up: &[f32], out: &mut [f32]) {
    for ((out, gate), up) in out.iter_mut().zip(gate).zip(up) {
        *out = gate / (1.0 + exp::<FUSED>(-gate)) * up;
    }
}

#[inline(always)]
fn gelu_row_plain<const FUSED: bool>(values: &mut [f32]) {
    for value in values {
        *value *= 0.5 * (1.0 + erf::<FUSED>(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// `eˣ` to about two units in the last place: 2ⁿ times a polynomial on [-ln 2 / 2, ln 2 / 2] (Cephes' expf).
#[inline(always)]
pub(super) fn exp<const FUSED: bool>(x: f32) -> f32 {
    let x = if x > -87.0 { x } else { -87.0 };
    let x = if x < 88.0 { x } else { 88.0 };
    // 1.5 · 2²³ rounds what is added to it to a whole number, which then stands in the last bits.
    let shifted = fused::<FUSED>(x, std::f32::consts::LOG2_E, 12_582_912.0);
    let n = shifted - 12_582_912.0;
    let r = fused::<FUSED>(n, 2.121_944_4e-4, fused::<FUSED>(n, -0.693_359_4, x));
    let p = fused::<FUSED>(1.987_569_2e-4, r, 1.398_199_9e-3);
    let p = fused::<FUSED>(p, r, 8.333_452e-3);
    let p = fused::<FUSED>(p, r, 4.166_579_6e-2);
    let p = fused::<FUSED>(p, r, 1.666_666_5e-1);
    let p = fused::<FUSED>(p, r, 0.5);
    let y = fused::<FUSED>(p * r, r, r + 1.0);
    // Taken from there it needs no conversion, which would be made one by one.
    f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23)) * y
}

/// The error function to 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26).
#[inline(always)]
fn erf<const FUSED: bool>(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / fused::<FUSED>(0.327_591_1, size, 1.0);
    let p = fused::<FUSED>(1.061_405_4, t, -1.453_152);
    let p = fused::<FUSED>(p, t, 1.421_413_7);
    let p = fused::<FUSED>(p, t, -0.284_496_74);
    let p = fused::<FUSED>(p, t, 0.254_829_6);
    let y = fused::<FUSED>(-p * t, exp::<FUSED>(-size * size), 1.0);
    y.copysign(x)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn the_exponential_is_within_two_units_in_the_last_place() {
        for step in -87_000..88_000 {
            let x = step as f32 / 1000.0;
            let exact = f64::from(x).exp();
            for found in [exp::<false>(x), exp::<true>(x)] {
                let error = (f64::from(found) - exact).abs() / exact;
                assert!(error < 2.5e-7, "exp({x}) is off by {error}");
            }
        }
    }

    #[test]
    fn gelu_and_the_gate_agree_with_candle() -> Result<()> {
        let x = Tensor::randn(0_f32, 3.0, (40, 512), &Device::Cpu)?;
        let theirs = (x.narrow(1, 0, 256)?.silu()? * x.narrow(1, 256, 256)?)?;
        assert!((gated(&x)? - theirs)?.abs()?.max_all()?.to_scalar::<f32>()? < 2e-5);
        let theirs = x.gelu_erf()?;
        assert!((gelu(x.copy()?)? - theirs)?.abs()?.max_all()?.to_scalar::<f32>()? < 2e-6);
        Ok(())
    }
}
