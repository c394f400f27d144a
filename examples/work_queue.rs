//! Jobs for three workers, each a process of its own: they factor numbers. One worker is killed in the middle
//! of a job. Another one has that job then, and none is lost.
//!
//! `cargo run --release -p annulus --features shm --example work_queue`

use std::error::Error;
use std::os::{fd::AsFd, fd::OwnedFd, unix::net::UnixStream};
use std::{env, io::Read, io::Write, process::Command, thread, time::Duration};

use annulus::{Settings, shm::Invitation, shm::Shared, shm::WhenGone, shm::mpmc};

fn least_factor(number: u64) -> u64 {
    (2..number).take_while(|d| d * d <= number).find(|d| number % d == 0).unwrap_or(number)
}

fn work(manner: &str) -> Result<(), Box<dyn Error>> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?); // to the first process
    let mut jobs = mpmc::consumer::<u64>(&Invitation::receive(&socket)?)?;
    let mut results = mpmc::producer::<[u64; 2]>(&Invitation::receive(&socket)?)?;
    let doomed = if manner == "doomed" { Some(jobs.claim()?) } else { None };
    socket.write_all(&[1])?; // it is there
    thread::sleep(if doomed.is_some() { Duration::MAX } else { Duration::ZERO });
    while let Ok(job) = jobs.claim() {
        results.send([*job, least_factor(*job)])?;
        job.done(); // behind its result: if this process dies between the two, the job is done twice
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(manner) = env::args().nth(1) {
        return work(&manner); // this program once more; usually it is another one
    }
    let builder = mpmc::Builder::new(Settings::new(64)).when_no_producer(WhenGone::Close);
    let Shared { handle: queue, invitation: jobs, .. } = builder.clone().build::<u64>()?;
    let Shared { invitation: results, .. } = builder.build::<[u64; 2]>()?;
    let (mut producer, results_here) = (mpmc::producer(&jobs)?, mpmc::consumer::<[u64; 2]>(&results)?);
    producer.send(2_u64)?;
    let [mut doomed, mut one, mut other] = ["doomed", "first", "second"].map(|manner| {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        let worker = command.arg(manner).stdin(OwnedFd::from(there)).spawn().unwrap();
        jobs.send(&here).and_then(|()| results.send(&here)).unwrap();
        here.read_exact(&mut [0]).unwrap(); // it has joined
        worker
    });
    let sending = thread::spawn(move || (3..1000).try_for_each(|number| producer.send(number)));
    doomed.kill().and_then(|()| doomed.wait())?;
    let mut factored: Vec<_> = results_here.into_iter().collect();
    factored.sort_unstable();
    assert!(factored.into_iter().eq((2..1000).map(|number| [number, least_factor(number)])));
    println!("all jobs are done, and {} was given again", queue.given_again());
    sending.join().unwrap()?;
    assert!(one.wait()?.success() && other.wait()?.success());
    Ok(())
}
