//! Three threads that are a chain, each on a core of its own, as near each other as can be.
//!
//! Where the cores do not suffice, or the system hides them, it runs all the same: not pinned, and asleep
//! while there is nothing to do.
//!
//! `cargo run --release -p annulus --example pinned`

use annulus::Settings;
use annulus::affinity::{self, Topology};
use annulus::{WaitStrategy, Worker, spsc};

const COUNT: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology = Topology::read();
    println!("this thread may run on {:?}", affinity::allowed().unwrap_or_default());
    for hidden in topology.hidden() {
        println!("{hidden}");
    }

    // Threads that spin need a core each: without one, a thread is in the way of the others.
    let (cpus, strategy) = match affinity::spread(3) {
        Ok(cpus) => (cpus.into_iter().map(Some).collect(), WaitStrategy::BusySpin),
        Err(error) => {
            println!("not pinned: {error}");
            (vec![None; 3], WaitStrategy::default())
        }
    };
    for number in cpus.iter().flatten() {
        let cpu = topology.cpu(*number).ok_or("it is one of these")?;
        println!("CPU {number}: its core has {:?}, its cache {:?}", cpu.same_core, cpu.same_cache);
    }

    // Pin first: the memory of a ring is near the thread that makes it.
    if let Some(cpu) = cpus[0] {
        affinity::pin_to(cpu)?;
    }
    let (mut numbers, to_square) = spsc::with(Settings::new(1024).wait_strategy(strategy))?;
    let (mut squares, to_sum) = spsc::with(Settings::new(1024).wait_strategy(strategy))?;
    let square = Worker::builder(to_square, ())
        .core(cpus[1])
        .spawn(move |(), number: u64, _| squares.send(number * number).expect("the sum goes on"))?;
    let sum = Worker::builder(to_sum, 0).core(cpus[2]).spawn(|sum, square: u64, _| *sum += square)?;

    for number in 1..=COUNT {
        numbers.send(number)?;
    }
    drop(numbers); // the first worker ends, and drops `squares`: so the second one ends
    let (_, sum) = (square.join(), sum.join());
    let sum = sum.map_err(|_| "a worker panicked")?.context;
    assert_eq!(sum, COUNT * (COUNT + 1) * (2 * COUNT + 1) / 6);
    println!("the sum of {COUNT} squares: {sum}");
    Ok(())
}
