//! Records that tell their number and whether they are whole.

/// Fills `record` with the record of that number, of `length` bytes. From eight bytes on, a record begins
/// with its number. All other bytes follow from the number, the length and their place, so a mixture of two
/// records is none.
pub(crate) fn fill(record: &mut Vec<u8>, number: u64, length: usize) {
    let mix = (number ^ (length as u64) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    record.clear();
    record.extend((0..length).map(|i| (mix >> (8 * (i % 8))) as u8 ^ (i / 8) as u8));
    if let Some(head) = record.first_chunk_mut() {
        *head = number.to_le_bytes();
    }
}

/// The record of that number.
pub(crate) fn record(number: u64, length: usize) -> Vec<u8> {
    let mut record = Vec::new();
    fill(&mut record, number, length);
    record
}

/// Fails if this is not the record of that number, whole.
#[track_caller]
pub(crate) fn check(bytes: &[u8], number: u64, expected: &mut Vec<u8>) {
    fill(expected, number, bytes.len());
    assert!(bytes == *expected, "record {number} of {} bytes is torn, or is another one", bytes.len());
}
