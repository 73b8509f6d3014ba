//! Times for people, and times people give.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// "3 min ago"; "never" where there is none.
pub(crate) fn ago(time: Option<&str>) -> String {
    match time.and_then(|text| text.parse::<Timestamp>().ok()) {
        Some(time) => ago_of(Timestamp::now().duration_since(time)),
        None => "never".to_owned(),
    }
}

fn ago_of(past: SignedDuration) -> String {
    let seconds = past.as_secs();
    match seconds {
        ..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        172_800.. => format!("{} days ago", seconds / 86_400),
    }
}

/// "14:05", with the date where that is not today.
pub(crate) fn at(time: Option<&str>) -> String {
    let Some(time) = time.and_then(|text| text.parse::<Timestamp>().ok()) else { return "-".to_owned() };
    let zone = TimeZone::system();
    let (local, today) = (zone.to_datetime(time), zone.to_datetime(Timestamp::now()));
    let format = if local.date() == today.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    local.strftime(format).to_string()
}

/// "14:05:09": when something happened just now.
pub(crate) fn clock(time: &str) -> String {
    let Ok(time) = time.parse::<Timestamp>() else { return "-".to_owned() };
    TimeZone::system().to_datetime(time).strftime("%H:%M:%S").to_string()
}

/// A time as given on the command line: RFC 3339, or how long ago (`90s`, `30m`, `2h`, `7d`).
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        _ => 0,
    };
    let number = text.get(..text.len().saturating_sub(1)).and_then(|number| number.parse::<u32>().ok());
    let past = number.filter(|_| unit > 0).map(|number| SignedDuration::from_secs(i64::from(number) * unit));
    past.and_then(|past| Timestamp::now().checked_sub(past).ok())
        .ok_or_else(|| "give a time such as 2026-01-31T12:00:00Z, or how long ago, such as 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_ago() {
        let check = |seconds: i64, text: &str| assert_eq!(ago_of(SignedDuration::from_secs(seconds)), text);
        check(-5, "just now");
        check(4, "just now");
        check(59, "59 s ago");
        check(200, "3 min ago");
        check(7200, "2 h ago");
        check(172_800, "2 days ago");
        assert_eq!(ago(None), "never");
    }

    #[test]
    fn times_people_give() {
        assert_eq!(parse("1970-01-01T00:00:01Z").map(Timestamp::as_second), Ok(1));
        let two_hours = Timestamp::now().as_second() - parse("2h").map_or(0, Timestamp::as_second);
        assert!((7199..=7201).contains(&two_hours), "{two_hours}");
        for bad in ["", "h", "2", "-2h", "2w", "yesterday", "ü"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
