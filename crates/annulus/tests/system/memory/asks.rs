//! What the kernel says of an address, and of the process.

use std::fs;

/// A part of the address space.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) start: usize,
    /// Of the file, with what stands before it in the line.
    #[cfg_attr(not(feature = "shm"), allow(dead_code, reason = "of memory that processes share"))]
    pub(crate) name: String,
    pub(crate) bytes: usize,
    pub(crate) page_bytes: usize,
    pub(crate) resident: usize,
    pub(crate) transparent: usize,
    pub(crate) flags: Vec<String>,
}

impl Part {
    pub(crate) fn is_locked(&self) -> bool {
        self.flags.iter().any(|flag| flag == "lo")
    }
}

/// The part in which `address` is, by `/proc/self/smaps`.
pub(crate) fn part_of(address: usize) -> Option<Part> {
    parts().into_iter().find(|part| (part.start..part.start + part.bytes).contains(&address))
}

pub(crate) fn parts() -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let first = line.split(' ').next().unwrap();
        if let Some((name, value)) = line.split_once(':').filter(|_| first.ends_with(':')) {
            let part = parts.last_mut().unwrap();
            let bytes = || value.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024;
            match name {
                "KernelPageSize" => part.page_bytes = bytes(),
                "Rss" | "Private_Hugetlb" => part.resident += bytes(),
                "AnonHugePages" | "ShmemPmdMapped" => part.transparent += bytes(),
                "VmFlags" => part.flags = value.split_whitespace().map(str::to_owned).collect(),
                _ => {}
            }
        } else {
            let (start, end) = first.split_once('-').unwrap();
            let number = |text| usize::from_str_radix(text, 16).unwrap();
            let (start, end) = (number(start), number(end));
            parts.push(Part { start, bytes: end - start, name: line.to_owned(), ..Part::default() });
        }
    }
    parts
}

/// A line of `/proc/self/status`, in bytes.
pub(crate) fn status(name: &str) -> usize {
    bytes("/proc/self/status", name)
}

/// What the process has in memory. (That of `status` is no exact count.)
pub(crate) fn resident() -> usize {
    bytes("/proc/self/smaps_rollup", "Rss")
}

fn bytes(file: &str, name: &str) -> usize {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}
