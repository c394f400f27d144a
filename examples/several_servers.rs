//! Three servers behind one name, each a process of its own, share the work of a client. One is killed with
//! questions open: those are told so, and asked once more. Another one comes, and is found.
//!
//! `cargo run --release -p annulus --features shm --example several_servers`

use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::{env, io::Read, path::Path, thread, time::Duration};

use annulus::shm::service::{self, AnswerError, NamedClient, PendingAnswer};
use annulus::{Settings, shm::Directory, shm::NamedRing, shm::Shared};

fn primes_below(number: u32) -> u32 {
    (2..number).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).count() as u32
}

fn serve(path: &Path, is_stuck: bool) -> Result<(), Box<dyn Error>> {
    let builder = service::Builder::new(Settings::new(8)).clients(4);
    let Shared { handle: mut server, invitation, .. } = builder.build::<u32, u32>()?;
    let _name = invitation.publish_numbered(&Directory::open(path)?, "primes")?; // primes.0, primes.1, …
    println!("ready");
    thread::sleep(if is_stuck { Duration::MAX } else { Duration::ZERO });
    while let Ok(request) = server.recv() {
        let count = primes_below(*request);
        let _ = request.answer(count);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::temp_dir().join(format!("annulus-several-servers-{}", std::process::id()));
    if let Some(manner) = env::args().nth(1) {
        return serve(Path::new(&env::args().nth(2).unwrap()), manner == "stuck"); // this program once more
    }
    let directory = Directory::open(&path)?; // or `Directory::of_user()`
    let start = |manner: &str| -> Result<Child, Box<dyn Error>> {
        let mut command = Command::new(env::current_exe()?);
        let mut server = command.arg(manner).arg(&path).stdout(Stdio::piped()).spawn()?;
        server.stdout.as_mut().unwrap().read_exact(&mut [0])?; // it has its name
        Ok(server)
    };
    let (mut stuck, mut servers) = (start("stuck")?, vec![start("good")?, start("good")?]);

    let mut client = NamedClient::<u32, u32>::new(&directory, "primes")?;
    let open = (0..12).map(|_| client.ask(10_000)).collect::<Result<Vec<_>, _>>()?; // four of each server
    stuck.kill().and_then(|()| stuck.wait())?;
    let (told, died): (Vec<_>, Vec<_>) = open.into_iter().map(PendingAnswer::recv).partition(Result::is_ok);
    assert_eq!((told.len(), &died[..]), (8, &[Err(AnswerError::Died); 4][..])); // and none was asked twice

    servers.push(start("good")?);
    assert_eq!(client.refresh()?, 3); // `ask` looks by itself, now and then
    let again = (0..died.len()).map(|_| client.ask(10_000)).collect::<Result<Vec<_>, _>>()?;
    assert!(again.into_iter().all(|answer| answer.recv() == Ok(1229)));
    println!("all is answered by {:?}", client.servers().map(NamedRing::name).collect::<Vec<_>>());
    servers.iter_mut().try_for_each(|server| server.kill().and_then(|()| server.wait()).map(drop))?;
    Ok(std::fs::remove_dir_all(path)?)
}
