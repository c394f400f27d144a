//! `annulus bridge`: finds the program that does it, or says how to get it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Folder, annulus};

#[test]
fn subcommand_runs_the_program_that_does_it() {
    let folder = Folder::new("bridge");
    let program = folder.file("annulus-bridge", "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.0.display(), std::env::var("PATH").unwrap());
    let arguments = ["quotes *", "--listen", "tcp/[::]:7447", "--", "-x"];
    let output = annulus("bridge").args(arguments).env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"<quotes *><--listen><tcp/[::]:7447><--><-x>");
}

#[test]
fn subcommand_without_the_program_says_how_to_get_it() {
    let output = annulus("bridge").arg("quotes").env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cargo install --path crates/annulus-zenoh"), "{said}");
}
