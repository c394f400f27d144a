//! Keys on the network: `annulus/HOST/NAME` has the messages of a ring, and what lies behind it the rest.
//!
//! ```text
//! annulus/HOST/NAME               messages
//! annulus/HOST/NAME/CELL          newest values: of the cell of this number; all are a queryable, too
//! annulus/HOST/NAME/@ring         a queryable: what the ring is
//! annulus/HOST/NAME/@ask/EPOCH    a queryable: answers the questions of a service
//! annulus/HOST/NAME/@ack/READER   how far the bridge of the host READER is with it
//! annulus/HOST/NAME/@live/EPOCH   a liveliness token, while the ring is carried
//! annulus/HOST/@bridge            a liveliness token, while the bridge is there
//! annulus/HOST/@echo              a queryable, whose answer is empty: how long the way is
//! annulus/HOST/@made/BOOT/EPOCH   a liveliness token: a bridge of the machine BOOT has made this ring
//! ```

use std::fmt::Write;

/// Of the tokens of all bridges.
pub(crate) const ALL_BRIDGES: &str = "annulus/*/@bridge";

/// Characters that have a meaning in keys, and the one that takes it from them.
const SPECIAL: [char; 7] = ['%', '/', '*', '$', '?', '#', '@'];

/// A name as one part of a key.
fn part(name: &str) -> String {
    let mut part = String::new();
    for character in name.chars() {
        if SPECIAL.contains(&character) {
            _ = write!(part, "%{:02X}", u32::from(character));
        } else {
            part.push(character);
        }
    }
    part
}

/// The keys' form of a pattern of names, with `*` and `?`. It may stand for more names than the pattern.
fn parts(pattern: &str) -> String {
    let mut parts = String::new();
    for character in pattern.chars() {
        match character {
            '*' | '?' if parts.ends_with("$*") => {}
            '*' | '?' => parts.push_str("$*"),
            other => parts.push_str(&part(other.encode_utf8(&mut [0; 4]))),
        }
    }
    if parts == "$*" { "*".into() } else { parts }
}

/// The name that a part of a key stands for. `None`: no name becomes that part.
fn name_of(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once('%') {
        name.push_str(before);
        let (code, after) = code.split_at_checked(2)?;
        name.push(char::from(u8::from_str_radix(code, 16).ok()?));
        rest = after;
    }
    name.push_str(rest);
    (part(&name) == text && !name.is_empty()).then_some(name)
}

/// Of a ring's messages.
pub(crate) fn messages(host: &str, name: &str) -> String {
    format!("annulus/{}/{}", part(host), part(name))
}

/// Of what a ring is.
pub(crate) fn description(host: &str, name: &str) -> String {
    format!("{}/@ring", messages(host, name))
}

/// Of all cells of newest values.
pub(crate) fn cells(host: &str, name: &str) -> String {
    format!("{}/*", messages(host, name))
}

/// Of one cell of what has this key of [messages].
pub(crate) fn cell(messages: &str, cell: u32) -> String {
    format!("{messages}/{cell}")
}

/// Of the questions of a service. (With its epoch: no question goes to two services of one name.)
pub(crate) fn questions(host: &str, name: &str, epoch: u64) -> String {
    format!("{}/@ask/{epoch:016x}", messages(host, name))
}

/// Of how far the bridge of this reader is with a ring.
pub(crate) fn ack(host: &str, name: &str, reader: &str) -> String {
    format!("{}/@ack/{}", messages(host, name), part(reader))
}

/// Of how far all bridges are with a ring.
pub(crate) fn all_acks(host: &str, name: &str) -> String {
    format!("{}/@ack/*", messages(host, name))
}

/// The reader whose bridge says how far it is.
pub(crate) fn reader_of_ack(key: &str) -> Option<String> {
    name_of(key.strip_prefix("annulus/")?.split_once("/@ack/")?.1)
}

/// Of a ring's token.
pub(crate) fn ring_token(host: &str, name: &str, epoch: u64) -> String {
    format!("{}/@live/{epoch:016x}", messages(host, name))
}

/// Of the tokens of all rings that have these hosts and names, and maybe of more.
// Decision 0155: no bridge hears of all rings of all hosts.
pub(crate) fn ring_tokens(hosts: &str, names: &str) -> String {
    format!("annulus/{}/{}/@live/*", parts(hosts), parts(names))
}

/// Of what answers at once.
pub(crate) fn echo(host: &str) -> String {
    format!("annulus/{}/@echo", part(host))
}

/// Of a bridge's token.
pub(crate) fn bridge_token(host: &str) -> String {
    format!("annulus/{}/@bridge", part(host))
}

/// Of a ring that a bridge of this machine has made.
pub(crate) fn made_token(host: &str, boot: &str, epoch: u64) -> String {
    format!("annulus/{}/@made/{}/{epoch:016x}", part(host), part(boot))
}

/// Of the tokens of all rings that bridges of this machine have made.
pub(crate) fn made_tokens(boot: &str) -> String {
    format!("annulus/*/@made/{}/*", part(boot))
}

/// The host whose bridge has made a ring, and which ring, as such a token says.
pub(crate) fn of_made_token(key: &str) -> Option<(String, u64)> {
    let (host, made) = key.strip_prefix("annulus/")?.split_once("/@made/")?;
    Some((name_of(host)?, u64::from_str_radix(made.split_once('/')?.1, 16).ok()?))
}

/// The host, the name and the epoch that a ring's token stands for.
pub(crate) fn of_ring_token(key: &str) -> Option<(String, String, u64)> {
    let mut parts = key.strip_prefix("annulus/")?.split('/');
    let (host, name) = (name_of(parts.next()?)?, name_of(parts.next()?)?);
    let (Some("@live"), Some(epoch), None) = (parts.next(), parts.next(), parts.next()) else { return None };
    Some((host, name, u64::from_str_radix(epoch, 16).ok()?))
}

/// The host that a bridge's token stands for.
pub(crate) fn of_bridge_token(key: &str) -> Option<String> {
    name_of(key.strip_prefix("annulus/")?.strip_suffix("/@bridge")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_says_whose_it_is() {
        for name in ["quotes", "a b", "50%", "*", "@ring", "$*", "ä/ö?#", "%2A", "."] {
            let token = ring_token("host-1.example", name, 0xFEDC_0000_0000_0001);
            assert_eq!(
                of_ring_token(&token),
                Some(("host-1.example".into(), name.into(), 0xFEDC_0000_0000_0001)),
                "{token}"
            );
            assert!(zenoh::key_expr::KeyExpr::try_from(token.as_str()).is_ok(), "{token}");
            assert_eq!(of_bridge_token(&bridge_token(name)).as_deref(), Some(name));
            assert_eq!(of_made_token(&made_token(name, name, 77)), Some((name.into(), 77)));
            assert_eq!(reader_of_ack(&ack("host", name, name)).as_deref(), Some(name));
        }
    }

    #[test]
    fn pattern_has_the_keys_of_its_names() {
        use zenoh::key_expr::KeyExpr;
        for (hosts, names, host, name) in [
            ("*", "*", "a", "quotes"),
            ("*", "quotes*", "a/b", "quotes"),
            ("feed-?", "**q?*", "feed-1", "eq!?"),
            ("50%", "?", "50%", "*"),
            ("@a$", "ä?#*", "@a$", "ä/#@"),
        ] {
            let pattern = KeyExpr::try_from(ring_tokens(hosts, names)).unwrap();
            let token = KeyExpr::try_from(ring_token(host, name, 7)).unwrap();
            assert!(pattern.includes(&token), "{pattern} {token}");
            let other = KeyExpr::try_from(ring_token("other/1", "@live", 7)).unwrap();
            assert_eq!(pattern.includes(&other), (hosts, names) == ("*", "*"), "{pattern} {other}");
        }
    }

    #[test]
    fn key_that_is_no_token_is_none() {
        for key in [
            "annulus/a/b",
            "annulus/a/b/@live",
            "annulus/a/b/@live/x",
            "annulus/a/b/@live/1/2",
            "annulus/a/b/@ring/1",
            "annulus/a/%zz/@live/1",
            "annulus/a/%4/@live/1",
            "annulus/a/%61/@live/1",
            "annulus/a//@live/1",
            "other/a/b/@live/1",
        ] {
            assert_eq!(of_ring_token(key), None, "{key}");
        }
    }
}
