//! What an HTTP answer, or its absence, says about one attempt. Pure; shared by every channel that speaks HTTP.
//!
//! The rule behind the table: only what surely was not taken is sent again; whatever may have been taken is unknown.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderMap, RETRY_AFTER};

use crate::channel::Class;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode};
use crate::net::error::NetErrorKind;
use crate::net::http::{HttpError, HttpErrorKind};

/// A longer wait than this is not believed.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(86_400);

/// The outcome of a call without answer.
#[must_use]
pub fn of_error(error: &HttpError) -> AttemptOutcome {
    let of = |code| ChannelError::new(code, error.detail.clone());
    match (error.sent, error.kind) {
        (true, HttpErrorKind::Malformed) => AttemptOutcome::Unknown { error: of(ErrorCode::BadAnswer) },
        (true, _) => AttemptOutcome::Unknown { error: of(ErrorCode::NoAnswer) },
        (false, HttpErrorKind::Connect(NetErrorKind::NoNetwork)) => {
            AttemptOutcome::Deferred { error: of(ErrorCode::NoNetwork), retry_after: None, environment: true }
        }
        (false, _) => {
            AttemptOutcome::Deferred { error: of(ErrorCode::ConnectionReset), retry_after: None, environment: false }
        }
    }
}

/// The outcome of an answer that is not a success; `None` for 2xx, where the channel looks into the body.
/// `now_at` is for a `Retry-After` that names a date.
#[must_use]
pub fn of_answer(status: StatusCode, headers: &HeaderMap, class: Class, now_at: i64) -> Option<AttemptOutcome> {
    let later = retry_after(headers, now_at);
    let of = |code| ChannelError::new(code, words(status));
    let deferred = |code, retry_after| AttemptOutcome::Deferred { error: of(code), retry_after, environment: false };
    let rejected = |code| AttemptOutcome::Rejected { error: of(code) };
    Some(match status.as_u16() {
        200..=299 => return None,
        401 | 403 => rejected(ErrorCode::AuthenticationError),
        429 => deferred(ErrorCode::RateLimit, later),
        // RFC 8470 section 5.2: 425 was not processed.
        425 | 503 => deferred(ErrorCode::TemporaryUnavailable, later),
        409 if matches!(class, Class::A { .. }) => deferred(ErrorCode::TemporaryUnavailable, later),
        408 => AttemptOutcome::Unknown { error: of(ErrorCode::NoAnswer) },
        300..=399 | 404 | 405 | 410 => rejected(ErrorCode::InvalidRecipient),
        400..=499 => rejected(ErrorCode::InvalidPayload),
        500..=599 => AttemptOutcome::Unknown { error: of(ErrorCode::ServerError) },
        _ => AttemptOutcome::Unknown { error: of(ErrorCode::BadAnswer) },
    })
}

/// A success without what the channel promises in it: nobody knows who answered.
#[must_use]
pub fn bad_answer(detail: impl Into<String>) -> AttemptOutcome {
    AttemptOutcome::Unknown { error: ChannelError::new(ErrorCode::BadAnswer, detail) }
}

/// `Retry-After` (RFC 9110 section 10.2.3), in seconds or as a date.
#[must_use]
pub fn retry_after(headers: &HeaderMap, now_at: i64) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(text).ok()?;
            let left_ms = date.timestamp().as_millisecond().saturating_sub(now_at);
            Duration::from_millis(u64::try_from(left_ms).unwrap_or(0))
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

fn words(status: StatusCode) -> String {
    match (status.is_redirection(), status.canonical_reason()) {
        (true, _) => format!("The server answered {}: redirects are not followed", status.as_u16()),
        (false, Some(reason)) => format!("The server answered {} {reason}", status.as_u16()),
        (false, None) => format!("The server answered {}", status.as_u16()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Class = Class::A { window: Duration::from_secs(86_400) };

    #[test]
    fn every_status_has_its_outcome() {
        let check = |status: u16, class: Class, outcome: &str, code: ErrorCode| {
            let got = of_answer(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), class, 0).unwrap();
            let found = got.error().unwrap();
            assert_eq!((got.as_str(), found.code), (outcome, code), "{status} of class {class:?}");
            assert!(found.detail.contains(&status.to_string()), "the status is named: {found}");
        };
        for class in [A, Class::C] {
            for status in [401, 403] {
                check(status, class, "rejected", ErrorCode::AuthenticationError);
            }
            for status in [301, 302, 304, 307, 308, 404, 405, 410] {
                check(status, class, "rejected", ErrorCode::InvalidRecipient);
            }
            for status in [400, 402, 413, 418, 422, 451, 499] {
                check(status, class, "rejected", ErrorCode::InvalidPayload);
            }
            for status in [425, 503] {
                check(status, class, "deferred", ErrorCode::TemporaryUnavailable);
            }
            check(429, class, "deferred", ErrorCode::RateLimit);
            check(408, class, "unknown", ErrorCode::NoAnswer);
            for status in [500, 501, 502, 504, 507, 520, 599] {
                check(status, class, "unknown", ErrorCode::ServerError);
            }
            for status in [600, 999] {
                check(status, class, "unknown", ErrorCode::BadAnswer);
            }
        }
        check(409, A, "deferred", ErrorCode::TemporaryUnavailable);
        check(409, Class::C, "rejected", ErrorCode::InvalidPayload);
        for status in [200, 201, 202, 204, 299] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(of_answer(status, &HeaderMap::new(), A, 0), None, "{status} is for the channel to read");
        }
    }

    #[test]
    fn an_answer_that_never_came_depends_on_what_left() {
        use HttpErrorKind::{Closed, Connect, Malformed, Timeout};
        let check = |kind, sent, outcome: &str, code: ErrorCode, environment: bool| {
            let got = of_error(&HttpError { kind, sent, detail: "x".to_owned() });
            assert_eq!((got.as_str(), got.error().unwrap().code), (outcome, code), "{kind:?}, sent {sent}");
            let of_this_computer = matches!(got, AttemptOutcome::Deferred { environment: true, .. });
            assert_eq!(of_this_computer, environment, "{kind:?}, sent {sent}");
        };
        for kind in [NetErrorKind::Dns, NetErrorKind::Refused, NetErrorKind::Timeout, NetErrorKind::Tls] {
            check(Connect(kind), false, "deferred", ErrorCode::ConnectionReset, false);
        }
        check(Connect(NetErrorKind::NoNetwork), false, "deferred", ErrorCode::NoNetwork, true);
        check(Closed, false, "deferred", ErrorCode::ConnectionReset, false);
        check(Timeout, false, "deferred", ErrorCode::ConnectionReset, false);
        check(Closed, true, "unknown", ErrorCode::NoAnswer, false);
        check(Timeout, true, "unknown", ErrorCode::NoAnswer, false);
        check(Malformed, true, "unknown", ErrorCode::BadAnswer, false);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now_at = 784_111_777_000; // Sun, 06 Nov 1994 08:49:37 GMT
        let check = |text: &str, expected: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            assert_eq!(retry_after(&headers, now_at), expected.map(Duration::from_secs), "{text}");
            let answer = of_answer(StatusCode::TOO_MANY_REQUESTS, &headers, Class::C, now_at);
            let waits = matches!(answer, Some(AttemptOutcome::Deferred { retry_after: Some(_), .. }));
            assert_eq!(waits, expected.is_some(), "{text}: it is obeyed");
        };
        check("120", Some(120));
        check(" 0 ", Some(0));
        check("Sun, 06 Nov 1994 08:50:37 GMT", Some(60));
        check("Sun, 06 Nov 1994 08:49:36 GMT", Some(0));
        check("99999999999", Some(86_400));
        check("-5", None);
        check("soon", None);
        check("", None);
        assert_eq!(retry_after(&HeaderMap::new(), now_at), None);
    }
}
