//! [`Record`]: what the file of a name says.

use core::fmt;

use super::process::ProcessId;
use crate::message::schema::Fingerprint;

/// Which descriptor of which process is the ring. A file has it as lines of text, a word and a number in
/// each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) process: ProcessId,
    /// The space of process numbers in which this is the number of the process.
    pub(super) namespace: u64,
    pub(super) fd: u32,
    pub(super) fingerprint: Fingerprint,
    /// The descriptor of the page where the ring's processes sleep; `None` if what has the name has none.
    pub(super) page: Option<u32>,
    /// Whether the process has taken the name back.
    pub(super) is_closed: bool,
}

/// No record is longer, nor is more of a file read.
pub(super) const MOST_BYTES: u64 = 1024;

/// The last line, which is added when the name is taken back.
pub(super) const CLOSED: &str = "closed\n";

const FIRST_LINE: &str = "annulus name 1";

impl Record {
    /// From a file's text, which may be anything. Lines that a later version adds are passed over.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let mut value = |word: &str| lines.next()?.strip_prefix(word)?.strip_prefix(' ');
        let mut record = Self {
            process: ProcessId::new(value("pid")?.parse().ok()?, value("start")?.parse().ok()?),
            namespace: value("namespace")?.parse().ok()?,
            fd: value("fd")?.parse().ok()?,
            fingerprint: Fingerprint::from_u64(u64::from_str_radix(value("fingerprint")?, 16).ok()?),
            page: None,
            is_closed: false,
        };
        for line in lines {
            if let Some(number) = line.strip_prefix("page ") {
                record.page = Some(number.parse().ok()?);
            }
            record.is_closed |= line == CLOSED.trim_end();
        }
        Some(record)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}")?;
        writeln!(f, "pid {}\nstart {}", self.process.pid(), self.process.start_time())?;
        writeln!(f, "namespace {}\nfd {}\nfingerprint {}", self.namespace, self.fd, self.fingerprint)?;
        if let Some(page) = self.page {
            writeln!(f, "page {page}")?;
        }
        if self.is_closed { f.write_str(CLOSED) } else { Ok(()) }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use proptest::prelude::*;

    const SAMPLE: Record = Record {
        process: ProcessId::new(u32::MAX, u64::MAX),
        namespace: u64::MAX,
        fd: u32::MAX,
        fingerprint: Fingerprint::NONE,
        page: Some(u32::MAX),
        is_closed: false,
    };

    #[test]
    fn what_is_written_is_read() {
        for (is_closed, page) in [(false, None), (true, None), (false, Some(7)), (true, SAMPLE.page)] {
            let record = Record { page, is_closed, ..SAMPLE };
            assert_eq!(Record::parse(&record.to_string()), Some(record));
            assert!(record.to_string().len() < MOST_BYTES as usize / 2);
        }
        assert_eq!(Record::parse(&(SAMPLE.to_string() + "of a later version\n")), Some(SAMPLE));
    }

    #[test]
    fn other_files_are_no_records() {
        let text = SAMPLE.to_string();
        assert_eq!(Record::parse(""), None);
        assert_eq!(Record::parse(&text.replace("name 1", "name 2")), None);
        assert_eq!(Record::parse(&text.replace("pid", "pod")), None);
        assert_eq!(Record::parse(&text.replace("pid ", "pid -")), None);
        assert_eq!(Record::parse(&text[..text.len() / 2]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 20 } else { 2000 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Anything scribbled into a file: a record, or none.
        #[test]
        fn no_text_does_harm(
            at in 0..120_usize,
            scribble in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let mut bytes = SAMPLE.to_string().into_bytes();
            let at = at.min(bytes.len());
            bytes.splice(at..at, scribble);
            let text = String::from_utf8_lossy(&bytes);
            if let Some(record) = Record::parse(&text) {
                prop_assert_eq!(Record::parse(&record.to_string()), Some(record));
            }
        }
    }
}
