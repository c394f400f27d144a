//! `/proc/cpuinfo`, of the first CPU.

use super::root::{Root, Unseen};

/// The lines `name : value` of one CPU.
pub(super) struct CpuInfo(Vec<(String, String)>);

impl CpuInfo {
    /// Reads it.
    pub(super) fn read(root: &Root) -> Result<Self, Unseen> {
        let text = root.text("/proc/cpuinfo")?;
        let lines = text.lines().take_while(|line| !line.trim().is_empty());
        let pairs = lines.filter_map(|line| line.split_once(':'));
        let info = Self(pairs.map(|(name, value)| (name.trim().into(), value.trim().into())).collect());
        if info.field("processor").is_none() { Err(Unseen::garbage(text)) } else { Ok(info) }
    }

    /// The value of this name.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(there, _)| there == name).map(|(_, value)| value.as_str())
    }

    /// Whether a processor of the family x86 has this flag.
    pub(super) fn has(&self, flag: &str) -> bool {
        self.field("flags").is_some_and(|flags| flags.split_whitespace().any(|there| there == flag))
    }

    /// Whether it is of the family x86.
    pub(super) fn is_x86(&self) -> bool {
        self.field("flags").is_some()
    }

    /// Whether it is an ARM processor.
    pub(super) fn is_arm(&self) -> bool {
        self.field("CPU implementer").is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    #[test]
    fn first_processor_is_read() {
        let text =
            "processor\t: 0\nmodel name\t: A: B\nflags\t\t: tsc mwaitx\n\nprocessor\t: 1\nflags\t\t: none\n";
        let info = CpuInfo::read(&Fake::new().file("/proc/cpuinfo", text).root())
            .unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(info.field("model name"), Some("A: B"));
        assert!(
            info.is_x86() && info.has("mwaitx") && !info.has("mwait") && !info.has("none") && !info.is_arm()
        );
    }

    #[test]
    fn garbage_is_none() {
        for text in ["", "\0\0", "no such thing", ":::\n"] {
            let read = CpuInfo::read(&Fake::new().file("/proc/cpuinfo", text).root());
            assert!(matches!(read, Err(Unseen::Garbage(_))), "{text:?}");
        }
    }
}
