//! Whether a struct has padding, and where: asked by what `annulus_derive` generates, while it is compiled.

/// Refuses to compile where padding follows field `at` of `fields`, which have an offset and a size each, and
/// follows none before it: the error at the first such field tells of all.
///
/// # Panics
///
/// If so.
pub const fn no_padding_after(
    fields: &[(usize, usize)],
    size: usize,
    at: usize,
    name: &str,
    field_names: &[&str],
) {
    // For most fields that is all. To look at all others for each of hundreds takes the compiler minutes.
    let bytes = padding_after(fields, size, at);
    if bytes == 0 {
        return;
    }
    let (mut places, mut first, mut field) = (0, fields.len(), fields.len());
    while field > 0 {
        field -= 1;
        if padding_after(fields, size, field) > 0 {
            (places, first) = (places + 1, field);
        }
    }
    if first != at {
        return;
    }
    let line = TextLine::new().text("`").text(name).text("` has ");
    if places == 1 {
        let line = line.number(bytes).text(if bytes == 1 { " byte" } else { " bytes" });
        let line = line.text(" of padding after its field `").text(field_names[at]);
        let line = line.text("`: add a field `_padding: [u8; ").number(bytes);
        let line = line
            .text("]` after it, or `#[message(packed)]` to the struct, which leaves padding out of the ring");
        panic!("{}", line.as_str());
    }
    let line =
        line.text("padding in ").number(places).text(" places: add `#[message(packed)]` to the struct, ");
    let mut line = line.text("which leaves padding out of the ring, or a field to each place:");
    while field < fields.len() {
        let bytes = padding_after(fields, size, field);
        if bytes > 0 {
            line = line.text(if field == first { " `[u8; " } else { ", `[u8; " }).number(bytes);
            line = line.text("]` after `").text(field_names[field]).text("`");
        }
        field += 1;
    }
    panic!("{}", line.as_str());
}

/// Refuses to compile where there is padding that follows no field: the fields of a struct of this size have
/// other bytes together.
///
/// # Panics
///
/// If so.
pub const fn no_other_padding(fields: usize, size: usize, name: &str) {
    if fields != size {
        let line = TextLine::new()
            .text("`")
            .text(name)
            .text("` has padding before its first field, or it is `align`ed: ");
        let line = line.text("add `#[message(packed)]` to it, which leaves padding out of the ring");
        panic!("{}", line.as_str());
    }
}

/// Bytes of no field between the end of field `at` and the next, or the end of the struct.
const fn padding_after(fields: &[(usize, usize)], size: usize, at: usize) -> usize {
    let (offset, length) = fields[at];
    if length == 0 {
        return 0;
    }
    let (end, mut next, mut other) = (offset + length, size, 0);
    while other < fields.len() {
        if fields[other].1 > 0 && fields[other].0 >= end && fields[other].0 < next {
            next = fields[other].0;
        }
        other += 1;
    }
    next - end
}

/// A line of text that is put together while compiling.
struct TextLine {
    bytes: [u8; Self::MOST],
    length: usize,
}

impl TextLine {
    const MOST: usize = 512;

    const fn new() -> Self {
        Self { bytes: [0; Self::MOST], length: 0 }
    }

    /// With `text` at its end, as much of it as there is room for.
    const fn text(mut self, text: &str) -> Self {
        let (text, mut at) = (text.as_bytes(), 0);
        while at < text.len() && self.length < Self::MOST {
            self.bytes[self.length] = text[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    const fn number(self, number: usize) -> Self {
        let digit = [b'0' + (number % 10) as u8];
        let this = if number < 10 { self } else { self.number(number / 10) };
        match core::str::from_utf8(&digit) {
            Ok(digit) => this.text(digit),
            // Unreached: says that it can't happen: a digit is text
            Err(_) => this,
        }
    }

    const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(line) => line,
            // Unreached: says that it can't happen: a line is made of texts
            Err(_) => "padding",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_found_behind_its_field() {
        // As of (u8, u32, (), u16), in the order of declaration and in one of the compiler's own.
        let declared = [(0, 1), (4, 4), (8, 0), (8, 2)];
        assert_eq!([0, 1, 2, 3].map(|at| padding_after(&declared, 12, at)), [3, 0, 0, 2]);
        let own = [(6, 1), (0, 4), (0, 0), (4, 2)];
        assert_eq!([0, 1, 2, 3].map(|at| padding_after(&own, 8, at)), [1, 0, 0, 0]);
    }

    #[test]
    #[should_panic(
        expected = "`Quote` has 13 bytes of padding after its field `live`: add a field `_padding: [u8; 13]`"
    )]
    fn line_names_the_field_and_the_bytes() {
        no_padding_after(&[(0, 3)], 16, 0, "Quote", &["live"]);
    }

    #[test]
    #[should_panic(
        expected = "`Quote` has padding in 2 places: add `#[message(packed)]` to the struct, which leaves padding out of the ring, or a field to each place: `[u8; 3]` after `side`, `[u8; 2]` after `live`"
    )]
    fn one_line_names_all_places() {
        no_padding_after(&[(0, 1), (4, 4), (8, 2)], 12, 0, "Quote", &["side", "price", "live"]);
    }

    #[test]
    fn padding_is_an_error_at_its_first_place_only() {
        no_padding_after(&[(0, 1), (4, 4), (8, 2)], 12, 1, "Quote", &["side", "price", "live"]);
        no_padding_after(&[(0, 1), (4, 4), (8, 2)], 12, 2, "Quote", &["side", "price", "live"]);
        no_padding_after(&[(0, 4), (4, 4)], 8, 0, "Quote", &["price", "side"]);
    }

    #[test]
    #[should_panic(expected = "has 1 byte of padding after its field `0`")]
    fn padding_of_one_byte_is_counted() {
        no_padding_after(&[(0, 3)], 4, 0, "Quote", &["0"]);
    }

    #[test]
    #[should_panic(expected = "`Quote` has padding before its first field")]
    fn padding_before_all_fields_is_seen_too() {
        no_padding_after(&[(4, 4)], 8, 0, "Quote", &["live"]);
        no_other_padding(4, 8, "Quote");
    }

    #[test]
    fn long_line_ends_somewhere() {
        let name = core::str::from_utf8(&[b'a'; 600]).unwrap();
        assert_eq!(TextLine::new().text(name).as_str().len(), TextLine::MOST);
    }
}
