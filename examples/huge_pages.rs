//! Two rings of 64 MiB, one of them in huge pages: what the kernel granted, and how long it takes to fill and
//! to read them.
//!
//! `sysctl vm.nr_hugepages=64` reserves huge pages. Without them it takes transparent ones (Linux).
//!
//! `cargo run --release -p annulus --example huge_pages`

use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::memory::{HugePages, Memory};
use annulus::{CapacityError, spsc};

const SLOTS: usize = (64 << 20) / size_of::<u64>();
const ROUNDS: u64 = 3;
/// Slots in a page of 4 KiB, and one: each step comes to another page.
const STEP: usize = 4096 / size_of::<u64>() + 1;

fn main() -> Result<(), CapacityError> {
    let plain = time(Memory::prefer().prefault())?;
    let huge = time(Memory::prefer().prefault().huge_pages(HugePages::Any))?;
    println!("huge pages: {:.2} times as fast", plain.as_secs_f64() / huge.as_secs_f64());

    // What a ring can't do without is required. The error says why it is not to be had.
    let memory = Memory::require().huge_pages(HugePages::Size(3 << 20));
    let error = spsc::with::<u64>(Settings::new(64).memory(memory)).unwrap_err();
    println!("no pages of 3 MiB: {error}");
    assert!(matches!(error, CapacityError::Memory(_)));
    Ok(())
}

/// How long it takes to fill a ring with this memory and to read it, one page after the other.
fn time(memory: Memory) -> Result<Duration, CapacityError> {
    let (mut producer, mut consumer) = spsc::with::<u64>(Settings::new(SLOTS).memory(memory))?;
    println!("{}", consumer.placement());
    for refusal in consumer.placement().refusals() {
        println!("{refusal}");
    }
    let (begun, numbers) = (Instant::now(), vec![1; SLOTS]);
    let mut sum = 0;
    for _ in 0..ROUNDS {
        producer.send_batch(&numbers).expect("it is open");
        let values = consumer.readable();
        sum += (0..SLOTS).map(|count| values[count * STEP % SLOTS]).sum::<u64>();
        consumer.advance(SLOTS);
    }
    assert_eq!(sum, ROUNDS * SLOTS as u64);
    Ok(begun.elapsed())
}
