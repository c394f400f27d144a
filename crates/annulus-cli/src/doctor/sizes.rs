//! Sizes of memory, written for people.

/// `bytes` in the largest unit that has one of it: `64 KiB`, `1.5 GiB`.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub(super) fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|&(unit, _)| bytes >= unit) {
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_its_unit() {
        let shown = [0, 1_000, 65_536, 3 << 29, 1 << 40].map(size);
        assert_eq!(shown, ["0 bytes", "1000 bytes", "64 KiB", "1.5 GiB", "1 TiB"]);
    }
}
