//! What another process does: it sends values, or receives them.

use std::io::Write;
use std::os::unix::fs::FileExt;

use annulus::shm::{Invitation, recv_fd};

use super::{number_of, table, value};
use crate::process::role;

/// `send CELLS`, or `receive`. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, mut socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    match words[0] {
        // Without an end, to one cell after the other. It says in a file how many it has sent.
        "send" => {
            let cells = words[1].parse().unwrap();
            let (mut sender, _, invitation) = table(cells);
            invitation.send(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            for number in 0.. {
                let cell = number as usize % cells;
                sender.send_to(cell, value(number)).unwrap();
                said.write_all_at(&u64::to_ne_bytes(number + 1), 0).unwrap();
            }
        }
        // To the end. It says at the end how many changes it was told of, and the last number.
        "receive" => {
            let reader = Invitation::receive(&socket).unwrap().accept_watch().unwrap();
            let mut changes = reader.changes();
            socket.write_all(b"\n").unwrap();
            let (mut told, mut last) = (0_u64, vec![None; reader.cells()]);
            for change in &mut changes {
                let number = number_of(&change.value);
                assert!(last[change.cell].is_none_or(|last| last < number), "{number}: {last:?}");
                last[change.cell] = Some(number);
                told += 1;
            }
            writeln!(socket, "{told} {}", last.iter().flatten().max().unwrap()).unwrap();
        }
        other => panic!("{other:?}"),
    }
}
