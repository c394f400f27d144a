//! `annulus doctor` as its users see it: the built program, its output and its exit codes.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Folder, annulus};

fn doctor() -> Command {
    annulus("doctor")
}

/// Runs `command` to its end.
fn output(command: &mut Command) -> Output {
    command.output().expect("the program was built")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// What a run prints that must succeed and complain of nothing.
#[track_caller]
fn stdout(command: &mut Command) -> String {
    let output = output(command);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    assert_eq!(stderr, "");
    stdout.into()
}

#[track_caller]
fn json(command: &mut Command) -> Value {
    serde_json::from_str(&stdout(command.arg("--json"))).unwrap()
}

/// Asserts that it is refused with this message, before anything is printed.
#[track_caller]
fn assert_refused(command: &mut Command, message: &str) {
    let output = output(command);
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    assert!(stderr.contains(message), "{message}\nis not in\n{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

fn sorted_keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// All that programs know findings by.
const IDS: [&str; 37] = [
    "cpus",
    "smt",
    "shared_cache",
    "sockets",
    "numa_nodes",
    "frequency_governor",
    "boost",
    "idle_states",
    "clock_source",
    "time_stamp_counter",
    "processor_wait",
    "huge_pages",
    "transparent_huge_pages",
    "locked_memory",
    "swap",
    "membarrier",
    "futex",
    "timer_slack",
    "scheduler",
    "real_time_limit",
    "autogroup",
    "isolated_cpus",
    "tickless_cpus",
    "rcu_free_cpus",
    "kernel",
    "preemption",
    "virtualisation",
    "steal",
    "container",
    "cpu_quota",
    "cpu_set",
    "memory_limit",
    "pid_namespace",
    "ipc_namespace",
    "shared_memory_folder",
    "remove_ipc",
    "old_names",
];

/// Asserts the shape of the findings.
#[track_caller]
fn assert_findings(report: &Value) {
    let findings = report["findings"].as_array().unwrap();
    let ids: Vec<_> = findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert_eq!(ids, IDS);
    for finding in findings {
        assert_eq!(sorted_keys(finding), ["advice", "here", "id", "name", "verdict"]);
        assert!(!finding["here"].as_str().unwrap().is_empty(), "{finding}");
        let verdict = finding["verdict"].as_str().unwrap();
        assert!(["good", "could_be_better", "hidden", "not_there"].contains(&verdict), "{finding}");
        assert!(finding["advice"].is_string() || finding["advice"].is_null(), "{finding}");
        assert!(verdict != "could_be_better" || finding["advice"].is_string(), "{finding}");
    }
}

#[test]
fn json_has_exactly_these_keys() {
    let report = json(doctor().arg("--quick"));
    assert_eq!(sorted_keys(&report), ["core_to_core", "findings", "schema", "system"]);
    assert_eq!(report["schema"], 1);
    assert_eq!(sorted_keys(&report["system"]), ["arch", "os", "processor"]);
    assert_eq!(report["system"]["os"], std::env::consts::OS);
    assert_findings(&report);

    let map = &report["core_to_core"];
    assert_eq!(sorted_keys(map), ["cpus", "not_measured", "pairs", "round_trips", "rounds"]);
    let (cpus, pairs) = (map["cpus"].as_array().unwrap(), map["pairs"].as_array().unwrap());
    assert_eq!(pairs.len(), cpus.len() * cpus.len().saturating_sub(1) / 2);
    assert_eq!(map["not_measured"].is_null(), cpus.len() >= 2);
    for pair in pairs {
        assert_eq!(sorted_keys(pair), ["a", "b", "error", "max_ns", "median_ns", "min_ns"]);
        assert!(pair["a"].as_u64() < pair["b"].as_u64(), "{pair}");
        assert_eq!(pair["median_ns"].is_f64(), pair["error"].is_null(), "{pair}");
    }
}

#[test]
fn report_without_a_measurement_has_no_map() {
    let report = json(doctor().arg("--no-measure"));
    assert!(report["core_to_core"].is_null());
    assert_findings(&report);
    let shown = stdout(doctor().arg("--no-measure"));
    assert!(shown.contains("│ clock source") && shown.contains("Nothing was changed."), "{shown}");
    assert!(!shown.contains("Core to core"), "{shown}");
}

#[test]
fn report_without_proc_and_sys_hides_everything_and_nothing_fails() {
    let folder = Folder::new("empty");
    let report = json(doctor().arg("--no-measure").arg("--root").arg(&folder.0));
    assert_findings(&report);
    // Calls, and the processor itself, say the rest.
    let by_call = [
        "cpus",
        "locked_memory",
        "membarrier",
        "futex",
        "timer_slack",
        "real_time_limit",
        "processor_wait",
        "shared_memory_folder",
    ];
    for finding in report["findings"].as_array().unwrap() {
        if !by_call.contains(&finding["id"].as_str().unwrap()) {
            assert_eq!(finding["verdict"], "hidden");
            assert_eq!(finding["here"], "not to be seen on this system");
        }
    }
    assert!(report["system"]["processor"].is_null());
    // And with the measurement, for people.
    let shown = stdout(doctor().arg("--quick").arg("--root").arg(&folder.0));
    assert!(shown.contains("Core to core: "), "{shown}");
    // A root that is not there is no different.
    let none = json(doctor().arg("--no-measure").arg("--root").arg(folder.0.join("none")));
    assert_eq!(none, report);
}

/// The program itself, by what a test of Linux runs it with.
#[cfg(target_os = "linux")]
fn doctor_in(runner: &[&str]) -> Command {
    let mut command = Command::new(runner[0]);
    command.args(&runner[1..]).arg(env!("CARGO_BIN_EXE_annulus")).args(["doctor", "--quick"]);
    command
}

/// A user without any rights.
#[cfg(target_os = "linux")]
#[test]
fn doctor_needs_no_privileges() {
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"];
    let can_run = |program: &str| {
        let mut command = Command::new(nobody[0]);
        command
            .args(&nobody[1..])
            .args([program, "--help"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if !can_run(env!("CARGO_BIN_EXE_annulus")) {
        eprintln!("another user can't be had, or can't read the program: not tested");
        return;
    }
    assert_findings(&json(&mut doctor_in(&nobody)));
}

/// A container without `/sys`, then one without `/proc`, then one with neither: for the library's own looks,
/// too, which know no other root.
#[cfg(target_os = "linux")]
#[test]
fn doctor_needs_neither_sysfs_nor_proc() {
    let can_mount = |folders: &str| {
        let script =
            format!("for folder in {folders}; do mount -t tmpfs none $folder || exit 1; done; exec \"$@\"");
        ["unshare", "--mount", "sh", "-c", &script, "sh"].map(str::to_owned)
    };
    let hidden = |report: &Value, id: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["id"] == id).unwrap()["verdict"] == "hidden"
    };
    // What this machine hides in any case.
    let usual = json(doctor().arg("--no-measure"));
    for folders in ["/sys", "/proc", "/sys /proc"] {
        let runner = can_mount(folders);
        let runner: Vec<&str> = runner.iter().map(String::as_str).collect();
        let is_possible = Command::new(runner[0]).args(&runner[1..]).arg("true").output();
        if !is_possible.is_ok_and(|output| output.status.success()) {
            eprintln!("this process may not mount anything: not tested");
            return;
        }
        let report = json(&mut doctor_in(&runner));
        assert_findings(&report);
        for (id, folder) in [("clock_source", "sys"), ("swap", "proc")] {
            let expected = folders.contains(folder) || hidden(&usual, id);
            assert_eq!(hidden(&report, id), expected, "{report}");
        }
    }
}

#[test]
fn verdict_and_advice_follow_from_the_files() {
    let folder = Folder::new("files");
    for (file, content) in [
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
        ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("sys/kernel/realtime", "perhaps\u{7}\n"),
        ("proc/swaps", "Filename Type Size Used Priority\n"),
    ] {
        let path = folder.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let report = json(doctor().arg("--no-measure").arg("--root").arg(&folder.0));
    let finding = |id: &str| {
        let findings = report["findings"].as_array().unwrap();
        let finding = findings.iter().find(|finding| finding["id"] == id).unwrap();
        ["verdict", "here", "advice"].map(|key| finding[key].as_str().unwrap_or("-").to_owned())
    };
    assert_eq!(
        finding("clock_source"),
        [
            "could_be_better",
            "hpet: each look is a system call",
            "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"
        ]
    );
    assert_eq!(finding("transparent_huge_pages"), ["good", "madvise: for programs that ask", "-"]);
    assert_eq!(finding("preemption"), ["hidden", "not to be understood: `perhaps\\u{7}`", "-"]);
    assert_eq!(finding("swap"), ["good", "none", "-"]);
}

#[test]
fn wrong_cores_are_refused() {
    let list = "write a list such as `0,1,4-7`";
    assert_refused(doctor().args(["--cores", "all"]), list);
    assert_refused(doctor().args(["--cores", "0,"]), list);
    assert_refused(doctor().args(["--cores", "3-1"]), "`3-1` runs backwards: write `1-3`");
    assert_refused(doctor().args(["--cores", "0"]), "name two or more");
    assert_refused(doctor().args(["--cores", "0,1", "--no-measure"]), "cannot be used with");
    if cfg!(any(target_os = "linux", target_os = "freebsd", windows)) {
        assert_refused(doctor().args(["--cores", "9998,9999"]), "CPU 9998: use some of ");
    }
}

#[test]
fn help_says_how_it_ends() {
    let help = stdout(doctor().arg("--help"));
    for word in ["EXIT CODES", "--no-measure", "--quick", "--cores", "also if things could be better"] {
        assert!(help.contains(word), "{word} is not in\n{help}");
    }
    assert!(!help.contains("--root"), "{help}");
}
