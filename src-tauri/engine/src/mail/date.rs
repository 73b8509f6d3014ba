//! The Date header as an instant.
//!
//! RFC 5322 §3.3 with the obsolete forms of §4.3, and the orders of words old programs write. Own code, because
//! libraries refuse what has to be read here (no zone, an unknown zone) and accept what must not be (second 60).

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::model::message::SentAt;

/// A longer value is not a date.
const DATE_BYTES_MAX: usize = 998;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// From an unfolded Date header; `None` where it is empty.
pub(super) fn sent_at(value: &str) -> Option<SentAt> {
    sent_at_by(value, rfc5322)
}

/// From a Date header or an RFC 3339 time; `None` where it is empty.
pub(super) fn sent_at_any(value: &str) -> Option<SentAt> {
    sent_at_by(value, |text| rfc5322(text).or_else(|| rfc3339(text)))
}

fn sent_at_by(value: &str, parse: impl Fn(&str) -> Option<DateTime>) -> Option<SentAt> {
    let text = value.trim();
    if text.is_empty() {
        return None;
    }
    let instant = parse(text).filter(|utc| (1..=9999).contains(&utc.year())).and_then(|utc| {
        let at = TimeZone::UTC.to_timestamp(utc).ok()?.as_millisecond();
        Some((utc.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), at))
    });
    Some(match instant {
        Some((text, at)) => SentAt { text, at: Some(at) },
        None => SentAt { text: text.to_owned(), at: None },
    })
}

/// The time in UTC.
fn rfc5322(text: &str) -> Option<DateTime> {
    if text.len() > DATE_BYTES_MAX {
        return None;
    }
    let text = without_comments(text);
    let mut words: Vec<&str> =
        text.split_whitespace().flat_map(|word| word.split(',')).filter(|w| !w.is_empty()).collect();
    // The day of the week says nothing, in whatever language.
    if words.first().is_some_and(|word| !word.starts_with(|c: char| c.is_ascii_digit()) && month(word).is_none()) {
        words.remove(0);
    }
    let time_at = words.iter().position(|word| word.contains(':'))?;
    let (before, after) = words.split_at_checked(time_at)?;
    let (time, after) = after.split_first()?;
    let joined: Vec<&str>;
    let before = if let [one] = before {
        joined = one.split('-').collect();
        joined.as_slice()
    } else {
        before
    };
    let zone_at = time.find(|c: char| c != ':' && !c.is_ascii_digit());
    let (time, glued) = zone_at.map_or((*time, None), |at| (time.get(..at).unwrap_or_default(), time.get(at..)));
    let (day, month, year, zone) = match (before, after) {
        ([a, b, year], _) => {
            let (day, month) = day_and_month(a, b)?;
            (day, month, *year, glued.or(after.first().copied()))
        }
        // `Dec 1 10:00:00 2026`, perhaps with a zone before the year or behind it.
        ([a, b], [first, rest @ ..]) => {
            let (day, month) = day_and_month(a, b)?;
            if first.starts_with(|c: char| c.is_ascii_digit()) {
                (day, month, *first, glued.or(rest.first().copied()))
            } else {
                (day, month, *rest.first()?, Some(*first))
            }
        }
        _ => return None,
    };
    let (hour, minute, second) = time_of_day(time)?;
    let local = DateTime::new(year_of(year)?, month, day, hour, minute, second, 0).ok()?;
    local.checked_sub(SignedDuration::from_secs(offset_seconds(zone.unwrap_or_default())?)).ok()
}

fn without_comments(text: &str) -> String {
    let mut depth = 0_usize;
    let mut escaped = false;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if depth > 0 => escaped = true,
            '(' => {
                depth += 1;
                out.push(' ');
            }
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

fn day_and_month(a: &str, b: &str) -> Option<(i8, i8)> {
    match (month(b), month(a)) {
        (Some(month), _) => Some((number(a, 2)?, month)),
        (None, Some(month)) => Some((number(b, 2)?, month)),
        (None, None) => None,
    }
}

fn month(word: &str) -> Option<i8> {
    let is = |name: &&str| {
        word.eq_ignore_ascii_case(name) || name.get(..3).is_some_and(|short| word.eq_ignore_ascii_case(short))
    };
    let at = MONTHS.iter().position(is)?;
    i8::try_from(at + 1).ok()
}

fn time_of_day(time: &str) -> Option<(i8, i8, i8)> {
    let mut parts = time.split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
    parts.next().is_none().then_some((hour, minute, second))
}

/// Years of two and three digits by RFC 5322 §4.3; before 1900 there are none (§3.3).
fn year_of(word: &str) -> Option<i16> {
    let year: i16 = number(word, 4)?;
    match word.len() {
        1 | 2 if year < 50 => Some(year + 2000),
        1..=3 => Some(year + 1900),
        _ => (year >= 1900).then_some(year),
    }
}

fn number<T: std::str::FromStr>(word: &str, digits_max: usize) -> Option<T> {
    let is_number = !word.is_empty() && word.len() <= digits_max && word.bytes().all(|octet| octet.is_ascii_digit());
    if is_number { word.parse().ok() } else { None }
}

/// Seconds east of UTC; 0 for an unknown zone and the letters of the military ones (RFC 5322 §4.3), `None` over 24 h.
fn offset_seconds(zone: &str) -> Option<i64> {
    let (sign, digits) = match zone.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        _ => (0, ""),
    };
    if digits.len() >= 3 && digits.bytes().all(|octet| octet.is_ascii_digit()) {
        let clock: i64 = digits.parse().ok()?;
        let seconds = clock / 100 * 3600 + clock % 100 * 60;
        return (seconds <= 86_400).then_some(sign * seconds);
    }
    let hours = match zone.to_ascii_uppercase().as_str() {
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        _ => 0,
    };
    Some(hours * 3600)
}

/// The time in UTC, to the second; without a zone it is UTC.
fn rfc3339(text: &str) -> Option<DateTime> {
    // A library makes 23:59:60 to 23:59:59; here it is unparsable on every path.
    if text.len() > DATE_BYTES_MAX || text.contains('[') || text.contains(":60") {
        return None;
    }
    let utc = match text.parse::<Timestamp>() {
        Ok(instant) => TimeZone::UTC.to_datetime(instant),
        Err(_) => text.contains(':').then(|| text.parse::<DateTime>().ok()).flatten()?,
    };
    utc.with().subsec_nanosecond(0).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: &str) {
        let found = sent_at(value);
        assert_eq!(found.as_ref().map_or("", |sent| sent.text.as_str()), expected, "{value:?}");
        let parsed = found.is_some_and(|sent| sent.at.is_some());
        assert_eq!(parsed, expected != value.trim(), "{value:?} is parsed or keeps its own text");
    }

    #[test]
    fn dates() {
        let seven = "2026-12-01T07:00:00Z";
        check("Tue, 01 Dec 2026 10:00:00 +0300", seven);
        check("1 dec 2026 07:00 GMT", seven);
        check("Tue,1 DEC 26 07:00:00 UT", seven);
        check("Tue, 1 Dec 2026 07:00:00", seven);
        check("Tue, 1 Dec 2026 07:00:00 (UTC)", seven);
        check("Tue, 1 Dec 2026 10:00:00 +0300 (MSK (\\) x))", seven);
        check("Tue (day), 1 Dec 2026 02:00:00 EST", seven);
        check("Mon, 30 Nov 2026 23:00:00 PST", seven);
        check("Tue, 1 Dec 2026 03:00:00 edt", seven);
        check("Tue, 1 Dec 2026 07:00:00 A", seven);
        check("Tue, 1 Dec 2026 07:00:00 CEST", seven);
        check("Tue, 1 Dec 2026 07:00:00 GMT+0300", seven);
        check("Tue, 1 Dec 2026 07:00:00 -0000", seven);
        check("Tue, 1 Dec 2026 10:00:00+0300", seven);
        check("Fri, 1 Dec 2026 07:00:00 Z", seven);
        check("mån, 1 Dec 2026 07:00:00 +0000", seven);
        check("Tue Dec  1 07:00:00 2026", seven);
        check("Tue Dec  1 07:00:00 UTC 2026", seven);
        check("December 1, 2026 07:00:00 +0000", seven);
        check("1-Dec-2026 07:00:00 +0000", seven);
        check("Tue, 1 Dec 2026 07:00:00 +0000 trailing words", seven);
        check("Tue, 31 Dec 2026 23:30:00 -0100", "2027-01-01T00:30:00Z");
        check("1 Jan 70 00:00:00 +0000", "1970-01-01T00:00:00Z");
        check("1 Jan 49 00:00:00 +0000", "2049-01-01T00:00:00Z");
        check("1 Jan 126 00:00:00 +0000", "2026-01-01T00:00:00Z");
        check("29 Feb 2028 00:00:00 +0000", "2028-02-29T00:00:00Z");
        check("1 Dec 2026 07:00:00 +2400", "2026-11-30T07:00:00Z");
    }

    #[test]
    fn what_is_no_date_keeps_its_text() {
        for value in [
            "yesterday at noon",
            "Tue, 1 Dec 2026 07:00:60 +0000",
            "Tue, 1 Dec 2026 24:00:00 +0000",
            "Tue, 1 Dec 2026 07:60:00 +0000",
            "Tue, 1 Dec 2026 07:00:00 +2500",
            "Tue, 1 Dec 2026 07:00:00 -9999",
            "Tue, 1 Dec 2026 07:00:00 +99999999999999999999",
            "29 Feb 2026 00:00:00 +0000",
            "0 Dec 2026 00:00:00 +0000",
            "1 Dec 0001 00:00:00 +0000",
            "1 Dec 30579 00:00:00 +0000",
            "1 Foo 2026 00:00:00 +0000",
            "1 12 2026 00:00:00 +0000",
            "2026-12-01T10:00:00+03:00",
            "Tue, 1 Dec 2026",
            "07:00:00",
            "\u{0}",
            "(((((",
            "é 1 Dec",
        ] {
            check(value, value);
        }
        check("  now\t", "now");
        assert_eq!(sent_at("  "), None, "an empty one is none");
    }

    #[test]
    fn a_webhook_may_write_rfc3339() {
        let table = [
            ("2026-12-01T07:00:00Z", "2026-12-01T07:00:00Z", true),
            ("2026-12-01t10:00:00.987+03:00", "2026-12-01T07:00:00Z", true),
            ("2026-12-01 07:00:00", "2026-12-01T07:00:00Z", true),
            ("Tue, 01 Dec 2026 10:00:00 +0300", "2026-12-01T07:00:00Z", true),
            ("2026-12-31T23:59:60Z", "2026-12-31T23:59:60Z", false),
            ("2026-12-01", "2026-12-01", false),
            ("soon", "soon", false),
        ];
        for (value, text, parsed) in table {
            let found = sent_at_any(value).unwrap();
            assert_eq!((found.text.as_str(), found.at.is_some()), (text, parsed), "{value:?}");
        }
        assert_eq!(sent_at_any("2026-12-01T07:00:00Z").unwrap().at, Some(1_796_108_400_000));
    }
}
