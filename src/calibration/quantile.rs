//! Quantiles of the normal and of Student's distribution.

/// The standard normal quantile: Acklam's rational approximation, then one step of Halley's method on the error
/// function's complement, which brings it to about 1e-15.
pub(super) fn normal(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_690e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];
    if !(p > 0.0 && p < 1.0) {
        return if p <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |q: f64| polynomial(&C, q) / (polynomial(&D, q) * q + 1.0);
    let x = if p < 0.02425 {
        tail((-2.0 * p.ln()).sqrt())
    } else if p > 1.0 - 0.02425 {
        -tail((-2.0 * (1.0 - p).ln()).sqrt())
    } else {
        let q = p - 0.5;
        let r = q * q;
        polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
    };
    let error = normal_cdf(x) - p;
    let step = error * (2.0 * std::f64::consts::PI).sqrt() * (x * x / 2.0).exp();
    x - step / (1.0 + x * step / 2.0)
}

/// The standard normal distribution, by the incomplete beta's limit: Student's with very many degrees would be
/// imprecise, so this sums the series (Abramowitz and Stegun 26.2.11) within 7 and gives 0 or 1 beyond 9.
pub(super) fn normal_cdf(x: f64) -> f64 {
    if x.abs() > 9.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x.abs() > 5.0 {
        // Laplace's continued fraction of the tail (26.2.14).
        let tail = (1..=60).rev().fold(x.abs(), |below, n| x.abs() + f64::from(n) / below);
        let tail = density / tail;
        return if x > 0.0 { 1.0 - tail } else { tail };
    }
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() && n < 500.0 {
        n += 2.0;
        term *= x * x / n;
        sum += term;
    }
    0.5 + density * sum
}

/// The quantile of Student's distribution with `degrees` of freedom, by bisection on its distribution function.
pub(super) fn student(p: f64, degrees: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) || degrees < 1.0 {
        return f64::NAN;
    }
    if p < 0.5 {
        return -student(1.0 - p, degrees);
    }
    let (mut low, mut high) = (0.0, 2.0);
    while student_cdf(high, degrees) < p && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if student_cdf(middle, degrees) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

fn student_cdf(t: f64, degrees: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8, Lentz's method).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let tiny = 1e-300;
    let guard = |value: f64| if value.abs() < tiny { tiny } else { value };
    let (mut c, mut d) = (1.0, 1.0 / guard(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// The logarithm of the gamma function for positive arguments: recurrence up to 15, then Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 15.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::{normal, normal_cdf, student};

    #[test]
    fn quantiles_agree_with_published_tables() {
        // scipy 1.16: norm.ppf and t.ppf.
        for (p, expected) in [(0.975, 1.959_963_984_540_054), (0.995, 2.575_829_303_548_900_4), (0.5, 0.0)] {
            assert!((normal(p) - expected).abs() < 1e-12, "{p}: {}", normal(p));
            assert!((normal(1.0 - p) + expected).abs() < 1e-10);
            assert!((normal_cdf(expected) - p).abs() < 1e-14);
        }
        for (degrees, expected) in [
            (1.0, 12.706_204_736_432_095),
            (5.0, 2.570_581_835_636_314),
            (29.0, 2.045_229_642_132_703),
            (299.0, 1.967_929_669_065_421_4),
        ] {
            assert!((student(0.975, degrees) - expected).abs() < 1e-9, "{degrees}: {}", student(0.975, degrees));
            assert!((student(0.025, degrees) + expected).abs() < 1e-9);
        }
    }
}
