//! What `batches.py` compares Python with: the library's own receive of the same batches, by the type and by
//! the schema. Prints nanoseconds a message of each.

use std::hint::black_box;
use std::time::{Duration, Instant};

use annulus::shm::blocks::MessageType;
use annulus::shm::dynamic::{Receiver, Start};
use annulus::shm::{Shared, broadcast};
use annulus::{Settings, WaitStrategy};

/// 32 bytes.
type Quote = [u64; 4];

const BATCH: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let batches: u32 = std::env::args().nth(1).map_or(Ok(2000), |text| text.parse())?;
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<Quote>(Settings::new(4 * BATCH))?;
    let mut typed = invitation.accept::<Quote>()?.subscribable().subscribe();
    let of = MessageType::described("[u64;4]".parse()?, 8);
    let mut dynamic = Receiver::join(&invitation, &of, WaitStrategy::default(), Start::Newest)?;
    let sent = vec![[7; 4]; BATCH];
    let mut messages = vec![[0; 4]; BATCH];
    let mut bytes = vec![0; BATCH * size_of::<Quote>()];
    let [mut by_type, mut by_schema] = [Duration::ZERO; 2];
    for _ in 0..batches {
        publisher.publish_batch(&sent);
        let begun = Instant::now();
        let count = typed.recv_batch(black_box(&mut messages))?;
        by_type += begun.elapsed();
        assert_eq!(count, BATCH);
        let begun = Instant::now();
        let count = dynamic.recv_run_into(black_box(&mut bytes));
        by_schema += begun.elapsed();
        assert_eq!(count, BATCH);
    }
    for all in [by_type, by_schema] {
        println!("{}", all.as_secs_f64() * 1e9 / f64::from(batches) / f64::from(u16::try_from(BATCH)?));
    }
    Ok(())
}
