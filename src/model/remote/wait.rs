//! How long to wait before a call is tried again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

/// The longest wait, whatever a server says.
const LONGEST: Duration = Duration::from_secs(120);
/// The longest wait without a word from the server.
const LONGEST_GUESS: Duration = Duration::from_secs(60);

/// What the server asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(super) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let asked = text("retry-after-ms").and_then(number).map(|milliseconds| milliseconds / 1000.0).or_else(|| {
        let after = text("retry-after")?;
        number(after).or_else(|| {
            let then = http_date(after)?;
            let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
            Some((then as f64 - now).max(0.0))
        })
    })?;
    Some(Duration::from_secs_f64(asked.min(LONGEST.as_secs_f64())))
}

/// Whether the server itself says that trying again makes sense.
pub(super) fn advised(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.to_str().ok()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// When the server's own counters say that nothing is left: how long until they are full again.
pub(super) fn exhausted(headers: &HeaderMap) -> Option<Duration> {
    ["requests", "tokens"]
        .iter()
        .filter_map(|what| {
            let text =
                |name: &str| headers.get(format!("x-ratelimit-{name}-{what}")).and_then(|value| value.to_str().ok());
            if text("remaining")?.trim().parse::<f64>().ok()? >= 1.0 {
                return None;
            }
            span(text("reset")?)
        })
        .max()
        .map(|wait| wait.min(LONGEST))
}

/// Doubling waits with full jitter: a uniform share of `patience · 2ⁿ`.
pub(super) fn guessed(patience: Duration, tried: u32, share: f64) -> Duration {
    let longest = patience.saturating_mul(1 << tried.min(16)).min(LONGEST_GUESS);
    longest.mul_f64(share.clamp(0.05, 1.0))
}

/// Spans such as `1s`, `6m0s`, `250ms`, `1h2m3.5s`.
fn span(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let number: f64 = rest.get(..end)?.parse().ok()?;
        let after = rest.get(end..)?;
        let (unit, length) = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)]
            .into_iter()
            .find(|(unit, _)| after.starts_with(unit))
            .unwrap_or(("", 1.0));
        if unit.is_empty() && !after.is_empty() {
            return None;
        }
        seconds += number * length;
        rest = after.get(unit.len()..)?;
    }
    Some(Duration::from_secs_f64(seconds.clamp(0.0, 86_400.0)))
}

/// Seconds since 1970 of a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
fn http_date(text: &str) -> Option<i64> {
    let mut words = text.split_once(", ")?.1.split_ascii_whitespace();
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|name| *name == month)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if words.next()? != "GMT" || !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    // Days from civil dates, years beginning in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?))).collect()
    }

    #[test]
    fn all_forms_of_retry_after_are_read() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        let told = |pairs: &[(&'static str, &'static str)]| asked(&with(pairs), now).map(|wait| wait.as_millis());
        assert_eq!(told(&[("retry-after", "2")]), Some(2000));
        assert_eq!(told(&[("retry-after", "0.5")]), Some(500));
        assert_eq!(told(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(7000));
        assert_eq!(told(&[("retry-after", "Sun, 06 Nov 1994 08:40:00 GMT")]), Some(0));
        assert_eq!(told(&[("retry-after", "9"), ("retry-after-ms", "30")]), Some(30));
        assert_eq!(told(&[("retry-after", "99999999")]), Some(120_000));
        assert_eq!(told(&[("retry-after", "soon")]), None);
        assert_eq!(told(&[("retry-after", "-1")]), None);
        assert_eq!(told(&[]), None);
    }

    #[test]
    fn counters_of_the_server_are_read() {
        let told = |pairs: &[(&'static str, &'static str)]| exhausted(&with(pairs)).map(|wait| wait.as_millis());
        assert_eq!(told(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1m30s")]), Some(90_000));
        assert_eq!(
            told(&[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "250ms")]),
            Some(250)
        );
        assert_eq!(told(&[("x-ratelimit-remaining-requests", "5"), ("x-ratelimit-reset-requests", "9s")]), None);
        assert_eq!(told(&[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "x")]), None);
    }

    #[test]
    fn waits_double_up_to_a_minute() {
        let longest = |tried| guessed(Duration::from_millis(500), tried, 1.0).as_millis();
        assert_eq!((longest(0), longest(1), longest(3), longest(40)), (500, 1000, 4000, 60_000));
    }
}
