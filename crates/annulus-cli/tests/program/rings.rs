//! `annulus ls` and `annulus rm` as their users see them: the built program, its output and its exit codes.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::foreign::Foreign;
use crate::names::Names;
use crate::running::{Running, mapped};
use crate::support::{Folder, annulus};
use annulus::Settings;
use annulus::shm::{Directory, Invitation, Shared, WhenGone, broadcast, bytes, frames};
use serde_json::Value;

/// What it prints to standard output and to standard error, and its exit code.
#[track_caller]
fn run(command: &mut Command) -> (String, String, i32) {
    let output = command.output().expect("the program was built");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

/// A publisher that is there and silent for longer than it has promised.
#[test]
fn publisher_that_breaks_its_promise_is_overdue() {
    let names = Names::new("overdue");
    let directory = Directory::open(&names.path).unwrap();
    let settings = |ms| Settings::new(8).deadline(std::time::Duration::from_millis(ms));
    let named = |name, ms| {
        let Shared { handle, invitation, .. } = broadcast::lossy::<u64>(settings(ms)).unwrap();
        (invitation.publish(&directory, name).unwrap(), handle)
    };
    let _both = (named("hangs", 1), named("rests", 3_600_000));
    let (said, _, _) = run(&mut names.command("top", &["--interval", "0.2", "--json"]));
    let report: Value = serde_json::from_str(&said).unwrap();
    let rings = report["rings"].as_array().unwrap();
    assert_eq!([&rings[0]["state"], &rings[1]["state"]], ["overdue", "alive"]);
    assert!(rings[0]["overdue_ns"].as_u64().unwrap() > 1_000_000 && rings[1]["overdue_ns"].is_null());
    let (said, _, _) = run(&mut names.command("info", &["hangs"]));
    assert!(said.contains("Deadline:  1.00 ms between two messages\n"), "{said}");
}

/// `annulus pub` promises, too; not of a ring that is there.
#[test]
fn deadline_of_lines_is_in_the_header() {
    for options in [&["--deadline", "0.25"][..], &["--deadline", "0.25", "--lossless"]] {
        let names = Names::new("pub-deadline");
        let mut publisher = names.command("pub", &[&["lines"][..], options].concat());
        let mut publisher = publisher.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let directory = Directory::open(&names.path).unwrap();
        let invitation = Invitation::wait_for(&directory, "lines", None).unwrap();
        let deadline = invitation.info().unwrap().deadline();
        assert_eq!(deadline, Some(std::time::Duration::from_millis(250)));
        publisher.kill().unwrap();
        publisher.wait().unwrap();
    }
    let names = Names::new("pub-no-deadline");
    let (_, complaint, code) = run(&mut names.command("pub", &["lines", "--json", "--deadline", "1"]));
    assert!(complaint.contains("--deadline") && code == 2, "{complaint}");
    let (_, complaint, code) = run(&mut names.command("pub", &["lines", "--deadline", "0"]));
    assert!(complaint.contains("positive number of seconds") && code == 2, "{complaint}");
}

#[test]
fn rings_are_listed_and_removed() {
    let folder = Folder::new("rings");
    let path = folder.0.join("names");
    let with = |subcommand| {
        let mut command = annulus(subcommand);
        command.arg("--directory").arg(&path);
        command
    };
    let directory = Directory::open(&path).unwrap();
    let (said, complaint, code) = run(&mut with("ls"));
    assert!(said.starts_with("There is no ring in "), "{said}");
    assert_eq!((complaint.as_str(), code), ("", 0));

    let Shared { handle: publisher, invitation, .. } =
        broadcast::lossy::<[f64; 2]>(Settings::new(1024)).unwrap();
    let name = invitation.publish(&directory, "quotes").unwrap();
    let (said, _, code) = run(&mut with("ls"));
    let pid = std::process::id().to_string();
    for word in ["quotes", "alive", &pid, "lossy broadcast ring", "1,024", "16", "1 ring in ", ", 0 dead"] {
        assert!(said.contains(word), "{word}\nis not in\n{said}");
    }
    assert_eq!(code, 0);

    let (said, _, _) = run(with("ls").arg("--json"));
    let listing: Value = serde_json::from_str(&said).unwrap();
    let ring = &listing["rings"][0];
    assert_eq!(listing["schema"], 1);
    assert_eq!((&ring["name"], &ring["state"]), (&Value::from("quotes"), &Value::from("alive")));
    assert_eq!((&ring["capacity"], &ring["payload_bytes"]), (&Value::from(1024), &Value::from(16)));
    assert_eq!((&ring["pid"], &ring["error"]), (&Value::from(std::process::id()), &Value::Null));

    let (said, complaint, code) = run(with("rm").args(["quotes", "nobody", "a/b"]));
    assert_eq!((said.as_str(), code), ("", 2));
    for word in ["quotes", &pid, "nobody", "a/b"] {
        assert!(complaint.contains(word), "{word}\nis not in\n{complaint}");
    }
    assert!(directory.find("quotes").is_ok(), "it is alive");
    assert_eq!(run(with("rm").args(["--force", "quotes"])), (String::new(), String::new(), 0));
    assert!(directory.find("quotes").is_err());
    drop((publisher, name));
}

/// The program's own publisher, alive and killed.
#[test]
fn killed_publisher_is_listed_as_dead_and_removed() {
    let folder = Folder::new("killed");
    let path = folder.0.join("names");
    let input = folder.file("input", "one\n");
    let with = |subcommand, arguments: &[&str]| {
        let mut command = annulus(subcommand);
        command.arg("--directory").arg(&path).args(arguments);
        command
    };
    let publisher = || {
        let mut command = with("pub", &["quotes", "--stay", "--file"]);
        let mut child = command.arg(&input).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(told.any(|line| line.unwrap().contains("staying")), "it has ended");
        child
    };
    let mut child = publisher();
    let pid = child.id().to_string();
    let (said, complaint, code) = run(&mut with("rm", &["quotes"]));
    assert_eq!((said.as_str(), code), ("", 2));
    assert!(complaint.contains(&format!("process {pid}")), "{complaint}");
    let (said, _, _) = run(&mut with("ls", &[]));
    assert!(said.contains("alive") && said.contains(&pid) && said.contains("annulus"), "{said}");

    child.kill().unwrap();
    child.wait().unwrap();
    let (said, _, code) = run(&mut with("ls", &[]));
    for word in ["quotes", "dead", &pid, "1 ring in ", ", 1 dead"] {
        assert!(code == 0 && said.contains(word), "{word}\nis not in\n{said}");
    }
    let (said, _, _) = run(&mut with("ls", &["--json"]));
    let listing: Value = serde_json::from_str(&said).unwrap();
    let ring = &listing["rings"][0];
    assert_eq!((&ring["state"], &ring["command"]), (&Value::from("dead"), &Value::Null));
    assert_eq!(ring["pid"], child.id());
    assert_eq!(run(&mut with("rm", &["quotes"])), (String::new(), String::new(), 0));
    let (said, _, _) = run(&mut with("ls", &[]));
    assert!(said.starts_with("There is no ring in "), "{said}");

    // By force, a living one. Nobody finds its ring any more, and another one may have the name.
    let mut child = publisher();
    assert_eq!(run(&mut with("rm", &["--force", "quotes"])), (String::new(), String::new(), 0));
    let (_, complaint, code) = run(&mut with("sub", &["quotes"]));
    assert!(code == 2 && complaint.contains("there is no ring"), "{complaint}");
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    let mut another = publisher();
    for child in [&mut child, &mut another] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// And nothing else.
#[test]
fn rings_of_dead_processes_are_removed_at_once() {
    let names = Names::new("all-dead");
    let input = names.folder.file("input", "one\n");
    let publisher = |name: &str| {
        let mut child =
            Running(names.command("pub", &[name, "--stay", "--file"]).arg(&input).spawn().unwrap());
        child.says("staying");
        child
    };
    let _alive = publisher("alive");
    for name in ["first", "second one"] {
        publisher(name).kill();
    }
    let listed = || run(&mut names.command("ls", &["--names"]));
    assert_eq!(listed(), ("alive\nfirst\nsecond one\n".into(), String::new(), 0));
    let remove = || run(&mut names.command("rm", &["--dead"]));
    assert_eq!(remove(), ("first\nsecond one\n".into(), String::new(), 0));
    assert_eq!(remove(), (String::new(), String::new(), 0));
    assert_eq!(listed(), ("alive\n".into(), String::new(), 0));
    for arguments in [&[][..], &["--dead", "alive"], &["--dead", "--force"], &["--force"]] {
        assert_eq!(run(&mut names.command("rm", arguments)).2, 2, "{arguments:?}");
    }
    assert_eq!(listed().0, "alive\n");
}

#[test]
fn info_describes_a_ring() {
    let folder = Folder::new("info");
    let path = folder.0.join("names");
    let info = |name: &str| {
        let mut command = annulus("info");
        run(command.arg("--directory").arg(&path).arg(name))
    };
    let directory = Directory::open(&path).unwrap();
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(8), 2).unwrap();
    let _name = invitation.publish(&directory, "orders").unwrap();
    let ring = invitation.accept_lossless::<u64>().unwrap();
    let _behind = ring.subscribe().unwrap();
    (0..3).for_each(|number| publisher.publish(number).unwrap());
    let (said, complaint, code) = info("orders");
    assert_eq!((complaint.as_str(), code), ("", 0));
    let pid = std::process::id();
    for line in [
        "Ring:      orders\n".to_owned(),
        "Kind:      lossless broadcast ring\n".into(),
        "State:     alive\n".into(),
        format!("Process:   {pid} ("),
        "Slots:     8 of 16 bytes each\n".into(),
        "Message:   8 bytes, aligned to 8\n".into(),
        "Type:      u64, fingerprint ".into(),
        "Newest:    value: 2\n".into(),
        "Published: 3\n".into(),
        "Waiting:   3\n".into(),
        format!("Reader:    seat 0, alive, at 0, 3 behind, process {pid} ("),
    ] {
        assert!(said.contains(&line), "{line}\nis not in\n{said}");
    }
    let mut command = annulus("info");
    let (said, _, code) = run(command.arg("--directory").arg(&path).args(["orders", "--json"]));
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&told["schema"], code), (&Value::from(1), 0));
    for (key, value) in
        [("name", "orders"), ("kind", "lossless broadcast ring"), ("state", "alive"), ("type", "u64")]
    {
        assert_eq!(told[key], value);
    }
    for (key, value) in [
        ("capacity", 8),
        ("slot_bytes", 16),
        ("payload_bytes", 8),
        ("payload_alignment", 8),
        ("published", 3),
        ("pending", 3),
        ("pid", pid),
    ] {
        assert_eq!(told[key], value, "{key}");
    }
    assert_eq!((&told["message"], &told["newest"]["value"]), (&Value::from("u64"), &Value::from(2)));
    let reader = &told["readers"][0];
    for (key, value) in [("seat", 0), ("position", 0), ("lag", 3), ("pid", pid)] {
        assert_eq!(reader[key], value, "{key}");
    }
    assert_eq!((&reader["state"], told["readers"].as_array().unwrap().len()), (&Value::from("alive"), 1));

    assert!(told["frames"].is_null());

    // A ring of frames.
    let builder = frames::Builder::new(Settings::new(4), 100_000).subscribers(3);
    let Shared { handle: mut camera, invitation, .. } = builder.build_lossless().unwrap();
    let _camera = invitation.publish(&directory, "camera").unwrap();
    let mut viewer = invitation.accept_lossless_frames().unwrap().subscribe().unwrap();
    camera.publish(b"picture").unwrap();
    let _frame = viewer.recv().unwrap();
    let (said, _, _) = info("camera");
    for line in [
        "Kind:      lossless broadcast ring of frames\n",
        "Frames:    12 of up to 100,000 bytes each\n",
        "Held:      1 by 1 subscriber (3 at most, 2 each)\n",
        "Reader:    seat 0, alive, at 1, 0 behind",
    ] {
        assert!(said.contains(line), "{line}\nis not in\n{said}");
    }
    let (said, _, _) = run(annulus("info").arg("--directory").arg(&path).args(["camera", "--json"]));
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(told["frames"]["held"], Value::from([1].as_slice()));

    // A name that is not there, one that can't be, and a file that is no ring's.
    fs::write(path.join("damaged.ring"), "what?").unwrap();
    for name in ["nobody", "a/b", "damaged"] {
        let (said, complaint, code) = info(name);
        assert_eq!((said.as_str(), code), ("", 2));
        assert!(complaint.contains(name) && complaint.lines().count() == 1, "{complaint}");
    }
}

/// Which process waits for which, and which has died: of a lossless ring whose publisher stays.
#[test]
fn readers_and_depth_are_listed() {
    let names = Names::new("depth");
    let input = names.folder.file("input", "one\ntwo\nthree\n");
    let mut command = names.command("pub", &["quotes", "--lossless", "--subscribers", "2", "--stay"]);
    let mut publisher = Running(command.arg("--file").arg(input).spawn().unwrap());
    let mut readers = [(); 2].map(|()| Running(names.command("sub", &["quotes", "--wait"]).spawn().unwrap()));
    publisher.says("staying");
    let ring = || {
        let output = names.command("ls", &["--json"]).output().unwrap();
        let listing: Value = serde_json::from_slice(&output.stdout).unwrap();
        listing["rings"][0].clone()
    };
    // Both print what there is, and sleep.
    while ring()["pending"] != 0 {}
    let before = ring();
    for (key, value) in [("published", 3), ("readers", 2), ("dead_readers", 0)] {
        assert_eq!(before[key], value, "{before}");
    }
    readers[0].kill();
    let after = ring();
    for (key, value) in [("published", 3), ("readers", 1), ("dead_readers", 1)] {
        assert_eq!(after[key], value, "{after}");
    }
    let table = names.command("ls", &[]).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    let words = |line: &str| line.split_whitespace().rev().take(2).map(String::from).collect::<Vec<_>>();
    let lines: Vec<_> = table.lines().map(words).collect();
    assert_eq!(lines[..2], [["DEAD", "READERS"], ["1", "1"]], "{table}");
}

/// All of them are asked before the wait for the answers, which is two seconds long.
#[test]
fn rings_that_do_not_answer_are_waited_for_together() {
    let names = Names::new("no-answer");
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let foreign = |number| Foreign::new(&names, &invitation, &format!("ring-{number}"), 1);
    let all: Vec<_> = (0..60).map(foreign).collect();
    let begun = Instant::now();
    let (said, complaint, code) = run(&mut names.command("ls", &["--json"]));
    assert!(begun.elapsed() < Duration::from_secs(60), "one after the other, they take two minutes");
    assert_eq!((complaint.as_str(), code), ("", 0));
    let listing: Value = serde_json::from_str(&said).unwrap();
    let rings = listing["rings"].as_array().unwrap();
    assert_eq!(rings.len(), all.len());
    for ring in rings {
        assert!(ring["error"].as_str().unwrap().contains("has not answered for two seconds"), "{ring}");
    }
}

/// A process of another container is taken for none of here that has its number, neither in a list nor among
/// the readers.
#[test]
fn number_of_another_container_is_no_process_of_here() {
    let names = Names::new("container");
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    publisher.publish(7);
    let directory = Directory::with_mode(&names.path, 0o750).unwrap();
    let _name = invitation.publish(&directory, "here").unwrap();
    let reader = Running(names.command("sub", &["here", "--json"]).spawn().unwrap());
    while !mapped(&reader) {
        thread::yield_now();
    }
    let pid = reader.0.id();
    let foreign = Foreign::new(&names, &invitation, "there", pid);
    // It ends with this program.
    thread::spawn(move || {
        loop {
            // (Some have gone again.)
            _ = invitation.send(&foreign.socket.accept().unwrap().0);
        }
    });
    let command = |subcommand: &str, arguments: &[&str]| {
        let (said, complaint, code) = run(&mut names.command(subcommand, arguments));
        assert_eq!((complaint.as_str(), code), ("", 0));
        said
    };
    let json = |said: String| serde_json::from_str::<Value>(&said).unwrap();
    let has_reader = |ring: &Value| {
        let readers = ring["readers"].as_array().unwrap();
        readers.iter().any(|reader| reader["pid"] == pid && reader["command"].is_string())
    };
    let is_unknown = |ring: &Value| {
        assert!(ring["error"].is_null(), "{ring}");
        assert!(ring["pid"].is_null() && ring["command"].is_null(), "{ring}");
    };
    let rings = json(command("ls", &["--json"]))["rings"].clone();
    is_unknown(&rings[1]);
    // (This process publishes, and has no number there. One that looks is no reader, also if it had to ask.)
    assert_eq!([&rings[0]["readers"], &rings[1]["readers"]], [1, 2]);
    let said = command("ls", &[]);
    let line: Vec<_> = said.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(line[..6], ["there", "alive", "–", "in", "another", "container"], "{said}");
    let info = json(command("info", &["there", "--json"]));
    is_unknown(&info);
    assert!(has_reader(&info), "{info}");
    let said = command("info", &["there"]);
    assert!(said.contains("\nProcess:   in another container\n"), "{said}");
    let ring = json(command("top", &["there", "--json", "--interval", "0.1"]))["rings"][0].clone();
    is_unknown(&ring);
    assert!(has_reader(&ring), "{ring}");
    for arguments in [&["--interval", "0.1"][..], &["there", "--interval", "0.1"]] {
        assert!(command("top", arguments).contains(" in another container"));
    }
}

/// One that answers is listed as any other.
#[test]
fn ring_that_answers_late_is_listed() {
    let names = Names::new("late-answer");
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    publisher.publish_batch(&[1, 2, 3]);
    let foreign = Foreign::new(&names, &invitation, "quotes", 1);
    let ring = |subcommand: &str, arguments: &[&str]| {
        loop {
            let list = Running(names.command(subcommand, arguments).spawn().unwrap());
            let (client, _) = foreign.socket.accept().unwrap();
            thread::sleep(Duration::from_millis(50));
            // (It is gone again if this machine is as slow as that.)
            let is_sent = invitation.send(&client).is_ok();
            let (said, complaint, _) = list.end();
            let listing: Value = serde_json::from_slice(&said).unwrap_or_default();
            let ring = &listing["rings"][0];
            let is_slow = [complaint, ring["error"].to_string()].join(" ").contains("for two seconds");
            if !is_slow {
                assert!(is_sent);
                return ring.clone();
            }
        }
    };
    for (subcommand, arguments) in
        [("ls", &["--json"][..]), ("top", &["quotes", "--json", "--interval", "0.1"])]
    {
        let ring = ring(subcommand, arguments);
        assert_eq!((&ring["published"], &ring["error"]), (&Value::from(3), &Value::Null), "{ring}");
    }
}

#[test]
fn directory_that_is_none_is_named() {
    let folder = Folder::new("file");
    let file = folder.file("names", "");
    let (said, complaint, code) = run(annulus("ls").arg("--directory").arg(&file));
    assert_eq!((said.as_str(), code), ("", 2));
    assert!(complaint.contains(file.to_str().unwrap()), "{complaint}");
    let none = folder.0.join("none");
    let (_, complaint, code) = run(annulus("ls").arg("--directory").arg(&none));
    assert!(code == 2 && complaint.contains("there is no directory"), "{complaint}");
    assert!(!none.exists());
}

/// The directory's disk is full: the error says so, and nothing is left that could be taken for a ring.
#[test]
fn disk_without_room_is_named() {
    let folder = Folder::new("full");
    // A disk of its own, which no other process sees. There is room for a directory, and for nothing in it.
    let script =
        "mount -t tmpfs -o size=4k,mode=0700 none \"$1\" && head -c 4096 /dev/zero >\"$1/fill\" || exit 77
        echo line | \"$0\" pub lines --directory \"$1\"
        code=$?
        ls -A \"$1\"
        exit $code";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(env!("CARGO_BIN_EXE_annulus")).arg(&folder.0);
    let Ok(output) = command.output() else {
        eprintln!("skipped: there is no `unshare` here");
        return;
    };
    let [said, complaint] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let code = output.status.code().unwrap();
    if code == 77 || complaint.starts_with("unshare:") {
        eprintln!("skipped: this process may not mount a disk of its own");
        return;
    }
    assert_eq!((said.as_str(), code), ("fill\n", 2), "{complaint}");
    for word in ["\"lines\"", "No space left on device"] {
        assert!(complaint.contains(word), "{word} is not in {complaint}");
    }
}

#[test]
fn directory_has_the_mode_that_was_asked_for() {
    let folder = Folder::new("mode");
    let path = folder.0.join("names");
    let with = |subcommand, mode: &[&str]| {
        let mut command = annulus(subcommand);
        command.arg("--directory").arg(&path).args(mode);
        command
    };
    let mut publisher = with("pub", &["--mode", "770"])
        .arg("quotes")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !path.join("quotes.ring").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o770);
    assert!(path.join(".quotes.socket").exists(), "others may ask for the ring");
    let (said, _, code) = run(&mut with("ls", &[]));
    assert!(code == 0 && said.contains("quotes"), "{said}");
    let (_, complaint, code) = run(&mut with("ls", &["--mode", "700"]));
    assert!(code == 2 && complaint.contains("its mode is 770, and may be 700 at most"), "{complaint}");

    // Nobody shares with the whole world unasked.
    fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
    for subcommand in ["ls", "top"] {
        let (_, complaint, code) = run(&mut with(subcommand, &[]));
        assert!(code == 2 && complaint.contains("(--mode 777 allows it)"), "{complaint}");
    }
    assert_eq!(run(&mut with("ls", &["--mode", "777"])).2, 0);
    publisher.kill().unwrap();
    publisher.wait().unwrap();

    for mode in ["70", "9", "1777", "077", ""] {
        let (_, complaint, code) = run(&mut with("ls", &["--mode", mode]));
        assert!(code == 2 && complaint.contains("octal"), "{mode}: {complaint}");
    }
    let (_, complaint, code) = run(annulus("ls").args(["--mode", "770"]));
    assert!(code == 2 && complaint.contains("--directory"), "{complaint}");
}

/// Two users of one group: one publishes, and the other subscribes, lists and watches.
#[test]
fn users_of_a_group_share_a_ring() {
    const GROUP: u32 = 60_000;
    let folder = Folder::new("group");
    fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
    let path = folder.0.join("names");
    fs::create_dir(&path).unwrap();
    let given = chown(&path, None, Some(GROUP));
    fs::set_permissions(&path, Permissions::from_mode(0o2770)).unwrap();
    let by = |user, subcommand| {
        let mut command = annulus(subcommand);
        command.uid(user).gid(GROUP).arg("--directory").arg(&path);
        command
    };
    let publisher = by(60_001, "pub").arg("quotes").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let Some(mut publisher) = given.ok().and(publisher.ok()) else {
        eprintln!("skipped: only root makes processes of other users, and they must reach the program");
        return;
    };
    let mut subscriber = by(60_002, "sub")
        .args(["quotes", "--wait", "--count", "2", "--from", "oldest"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = publisher.stdin.as_mut().unwrap();
    input.write_all(b"one\ntwo\n").unwrap();
    let mut lines = BufReader::new(subscriber.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!((lines.next().as_deref(), lines.next().as_deref()), (Some("one"), Some("two")));
    assert!(subscriber.wait().unwrap().success());
    let (said, complaint, code) = run(&mut by(60_002, "ls"));
    assert!(
        code == 0 && said.contains("quotes") && said.contains("lossy broadcast ring"),
        "{said}{complaint}"
    );
    let (said, complaint, code) = run(&mut by(60_002, "top"));
    assert!(code == 0 && said.contains("quotes") && said.contains("lossy"), "{said}{complaint}");
    publisher.kill().unwrap();
    publisher.wait().unwrap();
    assert_eq!(run(by(60_002, "rm").arg("quotes")), (String::new(), String::new(), 0));
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
}

/// Its numbers count words, and say so.
#[test]
fn queue_of_records_has_numbers_of_words() {
    let names = Names::new("info-words");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut producer, invitation, .. } =
        bytes::producer(Settings::new(64), WhenGone::Close).unwrap();
    let _name = invitation.publish(&directory, "records").unwrap();
    producer.write(b"one").unwrap();
    producer.write(b"two and more").unwrap();
    let (said, _, _) = run(&mut names.command("info", &["records"]));
    for line in ["Published: 5 words of 8 bytes each\n", "Waiting:   5 words of 8 bytes each\n"] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
}

/// However long the name is that another process has chosen.
#[test]
fn info_is_no_wider_than_the_terminal() {
    let names = Names::new("info-wide");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let name = "x".repeat(200);
    let _name = invitation.publish(&directory, &name).unwrap();
    let (said, _, code) = run(names.command("info", &[&name]).env("COLUMNS", "60"));
    assert!(code == 0 && said.lines().all(|line| line.len() <= 60), "{said}");
    let shown: String = said.split("Kind:").next().unwrap().split_whitespace().skip(1).collect();
    assert_eq!(shown, name);
}
