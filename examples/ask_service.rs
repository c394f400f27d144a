//! A service and three clients, each a process of its own: a server counts the primes below a number, and its
//! threads answer as soon as they know. One client has many questions open at once, and one is killed with
//! questions open. The server never waits for a client.
//!
//! `cargo run --release -p annulus --features shm --example ask_service`

use std::error::Error;
use std::os::{fd::AsFd, fd::OwnedFd, unix::net::UnixStream};
use std::{env, io::Read, io::Write, process::Command, thread, time::Duration};

use annulus::{Settings, shm::Invitation, shm::Shared, shm::service};

fn primes_below(number: u32) -> u32 {
    (2..number).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).count() as u32
}

fn ask(manner: &str) -> Result<(), Box<dyn Error>> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?); // to the server
    let (mut client, _) = service::client::<u32, u32>(&Invitation::receive(&socket)?)?;
    let many = (1..=8).map(|thousand| client.ask(thousand * 1000)).collect::<Result<Vec<_>, _>>()?;
    socket.write_all(&[1])?;
    thread::sleep(if manner == "stuck" { Duration::MAX } else { Duration::ZERO });
    let counts = many.into_iter().rev().map(service::PendingAnswer::recv); // in any order
    assert_eq!(counts.collect::<Result<Vec<_>, _>>()?, [1007, 900, 783, 669, 550, 430, 303, 168]);
    assert_eq!(client.ask(100)?.recv(), Ok(25));
    println!("the {manner} client has all of its answers");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(manner) = env::args().nth(1) {
        return ask(&manner); // this program once more; usually it is another one
    }
    let builder = service::Builder::new(Settings::new(8)).clients(3);
    let Shared { handle: mut server, peers: places, invitation, .. } = builder.build::<u32, u32>()?;
    let [one, other, mut stuck] = ["first", "second", "stuck"].map(|manner| {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        let client = command.arg(manner).stdin(OwnedFd::from(there)).spawn().unwrap();
        invitation.send(&here).unwrap();
        here.read_exact(&mut [0]).unwrap(); // it has asked
        client
    });
    stuck.kill().and_then(|()| stuck.wait())?;
    assert_eq!((places.taken(), places.died()), (2, 1));
    thread::scope(|workers| {
        for _ in 0..3 * 8 + 2 {
            let request = server.recv_timeout(Duration::from_secs(60)).expect("all clients ask");
            workers.spawn(move || {
                let count = primes_below(*request);
                request.answer(count).is_ok() // not to the client that was killed
            });
        }
    });
    for mut client in [one, other] {
        assert!(client.wait()?.success());
    }
    Ok(())
}
