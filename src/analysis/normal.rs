//! The normal distribution, to the precision of a double.

/// The probability that a standard normal variable is at most `x`.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// The value that a standard normal variable is below with probability `p`; infinite at 0 and 1, NaN outside.
///
/// A rational first guess (P. J. Acklam's), then two steps of Halley's method on the distribution function.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let mut x = guess(p);
    for _ in 0..2 {
        let error = normal_cdf(x) - p;
        let step = error * (2.0 * std::f64::consts::PI).sqrt() * (x * x / 2.0).exp();
        x -= step / (1.0 + x * step / 2.0);
    }
    x
}

fn guess(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] =
        [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416, 1.0];
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / polynomial(&D, q)
    };
    if p < 0.024_25 {
        tail(p)
    } else if p > 1.0 - 0.024_25 {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        q * polynomial(&A, q * q) / polynomial(&B, q * q)
    }
}

/// The complementary error function: a power series near 0, a continued fraction in the tails.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let square = x * x;
    if x < 2.0 {
        // erf x = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term.abs() > sum.abs() * 1e-17 {
            term *= 2.0 * square / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        return 1.0 - 2.0 / std::f64::consts::PI.sqrt() * (-square).exp() * sum;
    }
    // erfc x = e^(−x²) / √π · 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …))))
    let fraction = (1..=80).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-square).exp() / std::f64::consts::PI.sqrt() / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_probabilities_from_tail_to_tail() {
        for p in [1e-12, 1e-6, 0.001, 0.02425, 0.3, 0.5, 0.7, 0.975, 0.999_999] {
            let error = (normal_cdf(normal_quantile(p)) - p).abs();
            assert!(error <= 1e-14 + p * 1e-12, "{p}: {error}");
        }
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(f64::NAN).is_nan() && normal_quantile(1.5).is_nan());
    }
}
