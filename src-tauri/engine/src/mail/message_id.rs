//! Message-ID and List-Id.

use crate::limits::MESSAGE_ID_BYTES_MAX;

/// A usable Message-ID: what stands in the first `<…>`, else the whole, without white space, the part after the last
/// `@` in lower case. `None` where there is no `@`, a side is empty, a control character stands in it, or it is too long.
pub(super) fn message_id(value: &str) -> Option<String> {
    let value = value.trim();
    let inner = value.split_once('<').and_then(|(_, inner)| inner.split_once('>')).map_or(value, |(inner, _)| inner);
    let mut id: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
    let at = id.rfind('@')?;
    let domain = id.split_off(at + 1);
    if at == 0 || domain.is_empty() {
        return None;
    }
    id.push_str(&domain.to_lowercase());
    let is_clean = !id.chars().any(|c| c.is_ascii_control());
    (is_clean && id.len() <= MESSAGE_ID_BYTES_MAX).then_some(id)
}

/// A list's id in lower case (RFC 2919): what stands in the last `<…>`, else the whole. `None` where it is empty.
pub(super) fn list_id(value: &str) -> Option<String> {
    let value = value.trim();
    let inner = value.rsplit_once('<').and_then(|(_, inner)| inner.split_once('>')).map_or(value, |(inner, _)| inner);
    let id = inner.trim().to_lowercase();
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ids() {
        let table = [
            ("<inv-41@shop.example>", Some("inv-41@shop.example")),
            (" <INV-41@Shop.EXAMPLE> (added by relay)", Some("INV-41@shop.example")),
            ("inv-41@Shop.example", Some("inv-41@shop.example")),
            ("<inv-\t 41@\u{a0}shop.example>", Some("inv-41@shop.example")),
            ("(c) <a@b> <c@d>", Some("a@b")),
            ("a > b <c@d>", Some("c@d")),
            ("<A@B@C>", Some("A@B@c")),
            ("<a@b", Some("<a@b")),
            ("a@b>", Some("a@b>")),
            ("<>", None),
            ("<> <a@b>", None),
            ("", None),
            ("<20261201100000>", None),
            ("<@b>", None),
            ("<a@>", None),
            ("<a@ >", None),
            ("<a\u{1f}@b>", None),
            ("<a\u{7f}@b>", None),
            ("<a\0@b>", None),
            ("<a\u{80}@b>", Some("a\u{80}@b")),
            ("<Счёт@ПОЧТА.example>", Some("Счёт@почта.example")),
        ];
        for (value, expected) in table {
            assert_eq!(message_id(value).as_deref(), expected, "{value:?}");
        }
        let longest = format!("{}@b", "x".repeat(996));
        assert_eq!(message_id(&longest), Some(longest.clone()), "998 bytes are usable");
        assert_eq!(message_id(&format!("x{longest}")), None, "999 bytes are not");
    }

    #[test]
    fn list_ids() {
        let table = [
            ("Billing list <Billing.Shop.example>", Some("billing.shop.example")),
            ("\"a <b\" <c.d>", Some("c.d")),
            ("billing.shop.example", Some("billing.shop.example")),
            ("<>", None),
            (" ", None),
        ];
        for (value, expected) in table {
            assert_eq!(list_id(value).as_deref(), expected, "{value:?}");
        }
    }
}
