//! Lists of CPUs as Linux writes them: `0,1,4-7`.

/// The numbers of CPUs are below this. (Linux has 8192 at most.)
const LIMIT: usize = 65_536;

/// The CPUs of a list, in ascending order, each once. An empty text is an empty list.
///
/// # Errors
///
/// Says what is wrong, without a full stop.
pub(super) fn parse(text: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    if text.trim().is_empty() {
        return Ok(cpus);
    }
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first, part)?, number(last, part)?);
        if first > last {
            return Err(format!("`{part}` runs backwards: write `{last}-{first}`"));
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// One number of `part`.
fn number(text: &str, part: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(number) if number < LIMIT => Ok(number),
        Ok(number) => Err(format!("{number} is no CPU: numbers are below {LIMIT}")),
        Err(_) => Err(format!("`{part}` is no CPU, nor a range of CPUs: write a list such as `0,1,4-7`")),
    }
}

/// The list of `cpus`, which are in ascending order.
pub(super) fn show(cpus: &[usize]) -> String {
    cpus.chunk_by(|one, next| one + 1 == *next)
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_read_and_written() {
        for (text, cpus, shown) in [
            ("", vec![], ""),
            ("3", vec![3], "3"),
            ("0-3,8\n", vec![0, 1, 2, 3, 8], "0-3,8"),
            ("5,4,4-6, 1", vec![1, 4, 5, 6], "1,4-6"),
        ] {
            assert_eq!(parse(text), Ok(cpus.clone()));
            assert_eq!(show(&cpus), shown);
        }
    }

    #[test]
    fn error_says_what_would_be_right() {
        for (text, error) in [
            ("x", "`x` is no CPU, nor a range of CPUs: write a list such as `0,1,4-7`"),
            ("1,,2", "`` is no CPU, nor a range of CPUs: write a list such as `0,1,4-7`"),
            ("7-4", "`7-4` runs backwards: write `4-7`"),
            ("0-99999999", "99999999 is no CPU: numbers are below 65536"),
            ("-1", "`-1` is no CPU, nor a range of CPUs: write a list such as `0,1,4-7`"),
        ] {
            assert_eq!(parse(text), Err(error.into()));
        }
    }
}
