//! Memory that is no ring, or no longer: an error, never a crash.

use annulus::schema::Schema;
use annulus::shm::{AttachError, RingInfo};
use proptest::prelude::*;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;

fn sealed(bytes: &[u8], seals: SealFlags) -> fs::File {
    let fd = memfd_create("annulus test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    let mut file = fs::File::from(fd);
    file.write_all(bytes).unwrap();
    fcntl_add_seals(&file, seals).unwrap();
    file
}

fn fixed(bytes: &[u8]) -> fs::File {
    sealed(bytes, SealFlags::SHRINK | SealFlags::GROW)
}

const SCHEMA: &str = "pair{a:u64,b:u64}";

/// As `docs/SHM-FORMAT.md` gives it, written by hand.
fn header() -> Vec<u8> {
    header_with(SCHEMA.as_bytes(), SCHEMA.parse::<Schema>().unwrap().fingerprint().to_u64())
}

fn header_with(schema: &[u8], fingerprint: u64) -> Vec<u8> {
    let slots = (512 + schema.len()).next_multiple_of(128);
    let mut ring = vec![0; slots + 64 * 16];
    let mut put = |at: usize, bytes: &[u8]| ring[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"ANNULUS\0");
    put(8, &0x0102_0304_u32.to_ne_bytes());
    put(12, &3_u32.to_ne_bytes());
    put(16, &1_u32.to_ne_bytes());
    put(24, &(slots as u64 + 64 * 16).to_ne_bytes());
    put(40, &(slots as u64).to_ne_bytes());
    put(48, &16_u64.to_ne_bytes());
    put(56, &64_u64.to_ne_bytes());
    put(64, &16_u64.to_ne_bytes());
    put(72, &8_u64.to_ne_bytes());
    put(80, &fingerprint.to_ne_bytes());
    put(88, &77_u64.to_ne_bytes());
    put(96, &12_345_u64.to_ne_bytes());
    put(104, &4321_u32.to_ne_bytes());
    put(108, &(schema.len() as u32).to_ne_bytes());
    put(512, schema);
    ring
}

#[test]
fn header_of_the_page_is_read() {
    let info = RingInfo::of(fixed(&header())).unwrap();
    assert_eq!((info.kind(), info.capacity()), (annulus::shm::ShmKind::Spsc, 64));
    assert_eq!((info.payload_bytes(), info.payload_alignment(), info.slot_bytes()), (16, 8, 16));
    let schema = info.schema().unwrap().unwrap();
    assert_eq!((schema.to_string().as_str(), schema.fingerprint()), (SCHEMA, info.fingerprint()));
    assert_eq!(info.start(), 77);
    assert_eq!((info.creator().pid(), info.creator().start_time()), (4321, 12_345));
}

/// What lies there is the schema of the header, or an error.
#[test]
fn no_schema_is_believed() {
    let told = |schema: &[u8], fingerprint: u64| RingInfo::of(fixed(&header_with(schema, fingerprint)));
    let fingerprint = |schema: &str| schema.parse::<Schema>().unwrap().fingerprint().to_u64();
    let no_schema = |schema: &[u8]| told(schema, 7).unwrap().schema().unwrap_err();

    assert_eq!(told(b"", 0).unwrap().schema().unwrap(), None);
    let nested = [b'['; 10_000];
    for (schema, at) in [(&b"pair{a:u64,\xFF"[..], 11), (&nested, 32), (b"pair{a:", 7), (b"pair{a:u65}", 7)] {
        let AttachError::Schema(error) = no_schema(schema) else { panic!("{schema:?}") };
        assert_eq!(error.at, at, "{error}");
    }
    assert!(matches!(
        no_schema(SCHEMA.as_bytes()),
        AttachError::Damaged { field: "the fingerprint", value: 7 }
    ));
    let short = told(b"u64", fingerprint("u64")).unwrap().schema().unwrap_err();
    assert!(matches!(short, AttachError::Damaged { field: "the payload's size", value: 16 }), "{short}");

    // A fingerprint without a schema, a schema without one, one that is too long, or longer than the memory.
    let mut long = header();
    long[108..112].copy_from_slice(&100_000_u32.to_ne_bytes());
    let mut longer = header();
    longer[108..112].copy_from_slice(&60_000_u32.to_ne_bytes());
    let [long, longer] = [long, longer].map(|ring| RingInfo::of(fixed(&ring)));
    for damaged in [told(b"", 7), told(b"u64", 0), long, longer] {
        assert!(matches!(damaged, Err(AttachError::Damaged { .. })), "{damaged:?}");
    }
}

#[test]
fn memory_that_could_shrink_is_refused() {
    for seals in [SealFlags::empty(), SealFlags::SHRINK, SealFlags::GROW, SealFlags::WRITE] {
        assert!(matches!(RingInfo::of(sealed(&header(), seals)), Err(AttachError::NotSealed)));
    }
}

#[test]
fn descriptor_of_no_memory_is_refused() {
    let (socket, _other) = UnixStream::pair().unwrap();
    assert!(matches!(RingInfo::of(&socket), Err(AttachError::NotMemory)));
    for path in ["/proc/self/exe", "/dev/null", "/tmp", "/proc/self/stat"] {
        assert!(matches!(RingInfo::of(fs::File::open(path).unwrap()), Err(AttachError::NotMemory)), "{path}");
    }
}

#[test]
fn memory_of_any_length_is_no_crash() {
    let header = header();
    for len in (0..header.len()).step_by(7) {
        let error = RingInfo::of(fixed(&header[..len])).unwrap_err();
        assert!(matches!(error, AttachError::Length { found, .. } if found == len as u64), "{len}: {error}");
    }
    let sparse = memfd_create("annulus test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&sparse, 1 << 20).unwrap();
    fcntl_add_seals(&sparse, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    assert!(matches!(RingInfo::of(&sparse), Err(AttachError::Sparse)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scribbles_are_no_crash(
        scribbles in prop::collection::vec((0..128_usize, any::<u8>()), 1..40),
        len in prop_oneof![Just(640 + 64 * 16), 0..2000_usize],
    ) {
        let mut ring = header();
        for (at, byte) in scribbles {
            ring[at] = byte;
        }
        ring.resize(len, 0xFF);
        if let Ok(info) = RingInfo::of(fixed(&ring)) {
            let slots = info.capacity().checked_mul(info.slot_bytes());
            prop_assert!(slots.is_some_and(|bytes| bytes + 512 <= len));
            // (Whatever it is, it is no crash.)
            let _ = info.schema();
            prop_assert!(info.payload_bytes() <= info.slot_bytes());
        }
    }
}
