//! A camera and three viewers, each a process of its own: frames are written once, and read where they lie.
//! One viewer is slow, and loses frames. One gets stuck with a frame, and is killed. The camera never waits.
//!
//! `cargo run --release -p annulus --features shm --example camera_frames`

use std::error::Error;
use std::os::{fd::AsFd, fd::OwnedFd, unix::net::UnixStream};
use std::{env, io::Read, io::Write, process::Command, thread, time::Duration};

use annulus::{Settings, shm::Invitation, shm::Shared, shm::frames};

const FRAME_BYTES: usize = 640 * 480 * 3;
const FRAMES: u64 = 300;

fn view(manner: &str) -> Result<(), Box<dyn Error>> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?); // to the camera
    let mut camera = Invitation::receive(&socket)?.accept_frames()?.subscribe()?;
    socket.write_all(&[1])?;
    let mut seen = 0;
    let work = Duration::from_millis(if manner == "fast" { 0 } else { 10 });
    while let Ok(frame) = camera.recv() {
        thread::sleep(if manner == "stuck" { Duration::MAX } else { work });
        let (pixels, expected) = (frame.shared(), Some(frame.sequence() as u8));
        assert_eq!([0, FRAME_BYTES - 1].map(|at| pixels.get(at)), [expected; 2], "it stays as it is");
        seen += 1;
    }
    assert_eq!(seen + camera.total_lagged(), FRAMES);
    println!("the {manner} viewer saw {seen} frames, and lost {}", camera.total_lagged());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(manner) = env::args().nth(1) {
        return view(&manner); // this program once more; usually it is another one
    }
    let builder = frames::Builder::new(Settings::new(4), FRAME_BYTES).subscribers(3).held(1);
    let Shared { handle: mut camera, invitation, .. } = builder.build()?;
    let [fast, slow, mut stuck] = ["fast", "slow", "stuck"].map(|manner| {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut command = Command::new(env::current_exe().unwrap());
        let viewer = command.arg(manner).stdin(OwnedFd::from(there)).spawn().unwrap();
        invitation.send(&here).unwrap();
        here.read_exact(&mut [0]).unwrap(); // it has subscribed
        viewer
    });
    for number in 0..FRAMES {
        let mut frame = camera.loan(FRAME_BYTES)?;
        frame.fill(number as u8); // what a driver would write
        frame.publish();
        thread::sleep(Duration::from_millis(1));
    }
    stuck.kill().and_then(|()| stuck.wait())?;
    camera.close();
    for mut viewer in [fast, slow] {
        assert!(viewer.wait()?.success());
    }
    assert_eq!(camera.held(), 0, "the killed one holds nothing");
    Ok(())
}
