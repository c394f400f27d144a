//! One line of a file of quotes.
//!
//! Nothing is guessed and nothing is mended: a line either is exactly a quote of the file's form, or is
//! refused with what is wrong about it and what would be right. Numbers and times have no quoting and no
//! blanks around them.

use chrono::{DateTime, NaiveDateTime};

use crate::messages::quote::{PRICES, Tick};
use crate::text::{counted, quoted};

/// The forms of a file of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// No header, `YYYYMMDD HHMMSSmmm,bid,ask,volume`. The time has no zone and is taken as UTC.
    Plain,
    /// The header `timestamp,bid,ask`, then lines of that.
    Headed,
}

/// The first line of a file of the form [`Form::Headed`].
const HEADER: &str = "timestamp,bid,ask";

impl Form {
    /// Tells the form of a file by its first line.
    ///
    /// # Errors
    ///
    /// What is wrong with a line that begins neither.
    pub(super) fn of_first_line(line: &str) -> Result<Self, String> {
        if line == HEADER {
            Ok(Self::Headed)
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            Ok(Self::Plain)
        } else {
            Err(format!(
                "{} begins no file of quotes: the first line is the header `{HEADER}`, or a quote of the form `{}`",
                quoted(line),
                Self::Plain.shape()
            ))
        }
    }

    /// Whether the first line is a header rather than a quote.
    pub(super) fn has_header(self) -> bool {
        self == Self::Headed
    }

    /// What a line looks like.
    fn shape(self) -> &'static str {
        match self {
            Self::Plain => "YYYYMMDD HHMMSSmmm,bid,ask,volume",
            Self::Headed => HEADER,
        }
    }

    /// The quote that `line` is.
    ///
    /// # Errors
    ///
    /// What is wrong with a line that is none.
    pub(super) fn parse(self, line: &str, symbol: u32) -> Result<Tick, String> {
        let fields: Vec<&str> = line.split(',').collect();
        let (event_ns, bid, ask, volume) = match (self, &fields[..]) {
            (Self::Plain, [time, bid, ask, volume]) => (plain_time(time)?, bid, ask, self::volume(volume)?),
            (Self::Headed, [time, bid, ask]) => (zoned_time(time)?, bid, ask, 0.0),
            _ => {
                let (shape, count) = (self.shape(), counted(fields.len() as u64, "field"));
                let right = shape.split(',').count();
                return Err(format!("{} has {count}: `{shape}` would be {right}", quoted(line)));
            }
        };
        Ok(Tick { event_ns, bid: price("bid", bid)?, ask: price("ask", ask)?, volume, symbol })
    }
}

/// A finite number, 0 or above.
fn volume(field: &str) -> Result<f64, String> {
    match number("volume", field)? {
        value if value >= 0.0 => Ok(value),
        _ => Err(format!("volume {} is negative: it must be 0 or more", quoted(field))),
    }
}

/// One of [`PRICES`].
fn price(name: &str, field: &str) -> Result<f64, String> {
    match number(name, field)? {
        value if PRICES.contains(&value) => Ok(value),
        value if value > 0.0 => Err(format!(
            "{name} {} is out of range: a price is from {} to {}",
            quoted(field),
            PRICES.start(),
            PRICES.end()
        )),
        _ => Err(format!("{name} {} is not above 0: a price must be, such as `1.12134`", quoted(field))),
    }
}

/// A finite number.
fn number(name: &str, field: &str) -> Result<f64, String> {
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => {
            Err(format!("{name} {} is not finite: it must be a number such as `1.12134`", quoted(field)))
        }
        Err(_) => Err(format!("{name} {} is not a number such as `1.12134`", quoted(field))),
    }
}

/// `YYYYMMDD HHMMSSmmm`, in UTC.
fn plain_time(field: &str) -> Result<i64, String> {
    let shaped = field.len() == 18
        && field
            .bytes()
            .enumerate()
            .all(|(place, byte)| if place == 8 { byte == b' ' } else { byte.is_ascii_digit() });
    let time = NaiveDateTime::parse_from_str(field, "%Y%m%d %H%M%S%3f").ok().filter(|_| shaped).ok_or_else(
        || {
            format!(
                "{} is no time of the form `YYYYMMDD HHMMSSmmm`, such as `20200101 170000065`",
                quoted(field)
            )
        },
    )?;
    in_range(field, time.and_utc().timestamp_nanos_opt())
}

/// ISO 8601 with a zone, and a blank or a `T` between date and time.
fn zoned_time(field: &str) -> Result<i64, String> {
    let time = DateTime::parse_from_rfc3339(field)
        .or_else(|error| DateTime::parse_from_rfc3339(&with_full_zone(field).ok_or(error)?))
        .map_err(|_| {
            format!(
                "{} is no ISO 8601 time with a zone, such as `2013-01-01 22:00:00.295000+00:00`",
                quoted(field)
            )
        })?;
    in_range(field, time.timestamp_nanos_opt())
}

/// `field` with its zone in the form `+00:00`, where it ended in `+00` or `+0000`, which ISO 8601 knows too.
fn with_full_zone(field: &str) -> Option<String> {
    let (_, time) = field.split_once(['T', 't', ' '])?;
    let digits = time.rsplit_once(['+', '-'])?.1;
    let moment = field.strip_suffix(digits)?;
    match digits.len() {
        2 => Some(format!("{moment}{digits}:00")),
        4 => Some(format!("{moment}{}:{}", digits.get(..2)?, digits.get(2..)?)),
        _ => None,
    }
}

/// `time`, unless the time of `field` is too far from 1970 to be counted in nanoseconds.
fn in_range(field: &str, time: Option<i64>) -> Result<i64, String> {
    time.ok_or_else(|| {
        format!("time {} is outside of the years 1678 to 2261, which a quote can carry", quoted(field))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2013-01-01 22:00:00 UTC.
    const NEW_YEAR_2013_NS: i64 = 1_357_077_600_000_000_000;

    #[test]
    fn lines_of_both_forms_are_parsed() {
        let tick = Form::Plain.parse("20200101 170000065,1.121200,1.121720,25", 4).unwrap();
        let event_ns = 1_577_898_000_065_000_000;
        assert_eq!(tick, Tick { event_ns, bid: 1.1212, ask: 1.12172, volume: 25.0, symbol: 4 });

        let tick = Form::Headed.parse("2013-01-01 22:00:00.295000+00:00,86.655,86.728", 0).unwrap();
        let event_ns = NEW_YEAR_2013_NS + 295_000_000;
        assert_eq!(tick, Tick { event_ns, bid: 86.655, ask: 86.728, volume: 0.0, symbol: 0 });
    }

    #[test]
    fn zone_is_reckoned_with() {
        for time in [
            "2013-01-01 22:00:00+00:00",
            "2013-01-01T22:00:00Z",
            "2013-01-01T17:00:00.000-05:00",
            "2013-01-02 03:30:00+0530",
            "2013-01-02 07:00:00+09",
        ] {
            assert_eq!(zoned_time(time), Ok(NEW_YEAR_2013_NS), "{time}");
        }
    }

    #[test]
    fn crossed_quote_is_data() {
        assert!(Form::Plain.parse("20200101 170000065,1.2,1.1,0", 0).is_ok());
    }

    #[test]
    fn form_is_told_by_the_first_line() {
        assert_eq!(Form::of_first_line("timestamp,bid,ask"), Ok(Form::Headed));
        assert_eq!(Form::of_first_line("20200101 170000065,1.1,1.2,0"), Ok(Form::Plain));
        assert_eq!(
            Form::of_first_line("time,bid,ask").unwrap_err(),
            "`time,bid,ask` begins no file of quotes: the first line is the header `timestamp,bid,ask`, \
             or a quote of the form `YYYYMMDD HHMMSSmmm,bid,ask,volume`"
        );
    }

    #[test]
    fn number_of_fields_is_exact() {
        for (form, line, message) in [
            (
                Form::Plain,
                "20200101 170000065,1.1,1.2",
                "`20200101 170000065,1.1,1.2` has 3 fields: `YYYYMMDD HHMMSSmmm,bid,ask,volume` would be 4",
            ),
            (
                Form::Plain,
                "20200101 170000065,1.1,1.2,0,",
                "`20200101 170000065,1.1,1.2,0,` has 5 fields: `YYYYMMDD HHMMSSmmm,bid,ask,volume` would be 4",
            ),
            (Form::Plain, "2020", "`2020` has 1 field: `YYYYMMDD HHMMSSmmm,bid,ask,volume` would be 4"),
            (
                Form::Headed,
                "2013-01-01 22:00:00Z,86",
                "`2013-01-01 22:00:00Z,86` has 2 fields: `timestamp,bid,ask` would be 3",
            ),
            (
                Form::Headed,
                "2013-01-01 22:00:00Z,86,87,0",
                "`2013-01-01 22:00:00Z,86,87,0` has 4 fields: `timestamp,bid,ask` would be 3",
            ),
        ] {
            assert_eq!(form.parse(line, 0).unwrap_err(), message);
        }
    }

    #[test]
    fn numbers_are_finite_and_prices_above_zero() {
        for (line, message) in [
            ("20200101 170000065,,1.2,0", "bid `` is not a number such as `1.12134`"),
            ("20200101 170000065,1.1, 1.2,0", "ask ` 1.2` is not a number such as `1.12134`"),
            ("20200101 170000065,1.1x,1.2,0", "bid `1.1x` is not a number such as `1.12134`"),
            ("20200101 170000065,0,1.2,0", "bid `0` is not above 0: a price must be, such as `1.12134`"),
            (
                "20200101 170000065,1.1,-1.2,0",
                "ask `-1.2` is not above 0: a price must be, such as `1.12134`",
            ),
            (
                "20200101 170000065,NaN,1.2,0",
                "bid `NaN` is not finite: it must be a number such as `1.12134`",
            ),
            (
                "20200101 170000065,1.1,inf,0",
                "ask `inf` is not finite: it must be a number such as `1.12134`",
            ),
            (
                "20200101 170000065,1.1,90000000000.1,0",
                "ask `90000000000.1` is out of range: a price is from 0.00000001 to 90000000000",
            ),
            (
                "20200101 170000065,0.000000009,1.2,0",
                "bid `0.000000009` is out of range: a price is from 0.00000001 to 90000000000",
            ),
            (
                "20200101 170000065,1e999,1.2,0",
                "bid `1e999` is not finite: it must be a number such as `1.12134`",
            ),
            ("20200101 170000065,1.1,1.2,", "volume `` is not a number such as `1.12134`"),
            (
                "20200101 170000065,1.1,1.2,inf",
                "volume `inf` is not finite: it must be a number such as `1.12134`",
            ),
            ("20200101 170000065,1.1,1.2,-1", "volume `-1` is negative: it must be 0 or more"),
        ] {
            assert_eq!(Form::Plain.parse(line, 0).unwrap_err(), message, "{line}");
        }
    }

    #[test]
    fn plain_time_exists_and_has_its_form() {
        for time in [
            "20200230 170000065",
            "20201301 170000065",
            "20200101 250000065",
            "20200101 17000006",
            "20200101T170000065",
            " 20200101 17000006",
            "2020-101 170000065",
            "20200101 1700000650",
            "",
            "１２３４５６",
        ] {
            let message =
                format!("`{time}` is no time of the form `YYYYMMDD HHMMSSmmm`, such as `20200101 170000065`");
            assert_eq!(plain_time(time), Err(message));
        }
    }

    #[test]
    fn zoned_time_exists_and_has_a_zone() {
        for time in [
            "2013-01-01 22:00:00.295000",
            "2013-02-29 22:00:00+00:00",
            "2013-01-01 24:00:00+00:00",
            "2013-01-01",
            "2013-01-01 22:00+00:00",
            " 2013-01-01 22:00:00+00:00",
            "2013-01-01 22:00:00+00:00 ",
            "2013-01-01 22:00:00+é",
            "20130101 220000000",
            "",
        ] {
            let message = format!(
                "`{time}` is no ISO 8601 time with a zone, such as `2013-01-01 22:00:00.295000+00:00`"
            );
            assert_eq!(zoned_time(time), Err(message));
        }
    }

    #[test]
    fn time_that_nanoseconds_cannot_count_is_refused() {
        let message =
            "time `25000101 000000000` is outside of the years 1678 to 2261, which a quote can carry";
        assert_eq!(plain_time("25000101 000000000"), Err(message.into()));
        assert!(zoned_time("1500-01-01 00:00:00Z").unwrap_err().contains("outside of the years"));
    }
}
