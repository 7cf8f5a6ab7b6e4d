//! How long the server asks us to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, RETRY_AFTER};

pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|ms| seconds(ms, 1e-3)) {
        return Some(wait);
    }
    let value = text(RETRY_AFTER.as_str())?;
    seconds(value, 1.0).or_else(|| {
        let then = UNIX_EPOCH.checked_add(Duration::from_secs(http_date(value)?))?;
        // A date that has passed asks for no wait.
        Some(then.duration_since(now).unwrap_or_default())
    })
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse::<f64>().ok()? * unit).ok()
}

/// Seconds since 1970 of a date as HTTP writes it today: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(", ")?;
    let mut parts = date.split(' ');
    let day: u64 = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let month = MONTHS.iter().zip(1..).find(|(month, _)| **month == name)?.1;
    let year: u64 = parts.next()?.parse().ok()?;
    let mut clock = parts.next()?.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let zone = parts.next()?;
    let sane = (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !sane || zone != "GMT" || parts.next().is_some() {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// Years begin in March here, so that the leap day is the last of its year.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * months + 2) / 5 + day - 1;
    days - 719_468
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn waits_are_read_in_every_form() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (name, value, millis) in [
            ("retry-after", "0", Some(0)),
            ("retry-after", " 7 ", Some(7_000)),
            ("retry-after", "1.5", Some(1_500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("retry-after", "Sun, 06 Nov 1994 08:50:00 GMT", Some(23_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 PST", None),
            ("retry-after", "Sun, 06 Nov 0000 08:49:37 GMT", None),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "nan", None),
            ("retry-after", "1e300", None),
            ("x-other", "1", None),
        ] {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            let wait = retry_after(&headers, now).map(|wait| wait.as_millis());
            assert_eq!(wait, millis, "{value:?}");
        }
    }

    #[test]
    fn milliseconds_win_over_seconds() {
        let headers = HeaderMap::from_iter([
            (RETRY_AFTER, HeaderValue::from_static("9")),
            (HeaderName::from_static("retry-after-ms"), HeaderValue::from_static("5")),
        ]);
        assert_eq!(retry_after(&headers, UNIX_EPOCH), Some(Duration::from_millis(5)));
    }

    #[test]
    fn dates_are_counted_over_leap_years() {
        for (date, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Sun, 15 Nov 2026 06:15:18 GMT", 1_794_723_318),
        ] {
            assert_eq!(http_date(date), Some(seconds), "{date}");
        }
    }
}
