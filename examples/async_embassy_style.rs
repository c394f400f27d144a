//! An executor as microcontrollers have it: one word says which tasks are ready, and interrupts set its bits.
//! It uses `core` alone; the rings need `alloc`, not `std`.
//!
//! `cargo run --release -p annulus --features async --example async_embassy_style`
#![allow(clippy::disallowed_types, reason = "the executor's word is none of the library's atomics")]

use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicU32, Ordering};
use core::{cell::Cell, ptr, task};

use annulus::broadcast::{Lossless, Subscriber, lossless};

static READY: AtomicU32 = AtomicU32::new(u32::MAX);
/// Of wakers that are the number of a task: no memory, and safe in an interrupt.
static TABLE: task::RawWakerVTable =
    task::RawWakerVTable::new(|number| task::RawWaker::new(number, &TABLE), wake, wake, |_| ());

fn wake(number: *const ()) {
    READY.fetch_or(1 << number.addr(), Ordering::Release);
}

/// Polls each task once, and then whichever was woken. Sleeps while none is ready.
fn run(tasks: &mut [Pin<&mut dyn Future<Output = ()>>], mut sleep: impl FnMut()) {
    let mut running = (1_u32 << tasks.len()) - 1;
    while running != 0 {
        let ready = READY.swap(0, Ordering::Acquire) & running;
        for number in (0..tasks.len()).filter(|number| ready & 1 << number != 0) {
            // SAFETY: the functions of the table do not follow the pointer, and may run in any thread.
            let waker = unsafe { task::Waker::new(ptr::without_provenance(number), &TABLE) };
            let polled = tasks[number].as_mut().poll(&mut task::Context::from_waker(&waker));
            running &= !(u32::from(polled.is_ready()) << number);
        }
        (ready == 0).then(&mut sleep);
    }
}

async fn add_up(mut values: Subscriber<u64, Lossless>, sum: &Cell<u64>) {
    while let Ok(value) = values.recv_async().await {
        sum.set(sum.get() + value);
    }
}

fn main() {
    let (mut sensor, mut samples) = annulus::spsc::channel::<u64>(8);
    let (mut doubled, subscribable) = lossless::<u64>(4);
    let (mut numbers, sums) = (1..=1_000, [const { Cell::new(0) }; 2]);
    let [control, log] = sums.each_ref().map(|sum| add_up(subscribable.subscribe(), sum));
    let filter = async move {
        while let Ok(sample) = samples.recv_async().await {
            doubled.publish_async(2 * sample).await.unwrap(); // the task waits for room
        }
    };
    // Where the executor would sleep until an interrupt, one comes: it sends a sample, and does not wait.
    run(&mut [pin!(filter), pin!(control), pin!(log)], || match numbers.next() {
        Some(sample) => sensor.try_send(sample).unwrap(),
        None => sensor.close(),
    });
    assert_eq!(sums.map(Cell::into_inner), [1_001_000; 2]);
}
