//! The kernel is asked whether a pin took effect, and what was refused.
#![cfg(all(target_os = "linux", feature = "std", not(any(miri, annulus_loom))))]

use std::error::Error;
use std::io;
use std::thread;

use annulus::affinity::{self, PinReason, Pinned, Spread, SpreadError, Topology};
use annulus::pipeline::Pipeline;
use annulus::{Worker, spsc};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Where this thread may run, says the kernel.
fn mask() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// The same, without the library's way to ask.
fn narrow(cpus: &[usize]) {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).unwrap();
}

/// The line of `/proc` about this thread.
fn listed() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap().trim().to_owned()
}

/// On a thread of its own, whose pins nobody else has.
fn alone<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> T {
    thread::spawn(action).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// No machine of these tests has it.
const NO_CPU: usize = 1023;

#[test]
fn pinned_thread_runs_there() {
    let before = mask();
    for cpu in before.clone() {
        alone(move || {
            affinity::pin_to(cpu).unwrap();
            assert_eq!((mask(), listed()), (vec![cpu], cpu.to_string()));
            assert_eq!((sched_getcpu(), affinity::current()), (cpu, Some(cpu)));
            assert_eq!(affinity::allowed().unwrap(), [cpu]);
            assert_eq!(alone(mask), [cpu], "a thread that it spawns");
        });
    }
    assert_eq!(mask(), before, "this thread runs where it ran");
    assert_eq!(affinity::allowed().unwrap(), before);
    assert!(before.contains(&affinity::current().unwrap()));
}

/// The number is the system's: it is not counted among those that are allowed.
#[test]
fn a_pin_is_by_number() {
    let all = mask();
    for narrowed in all.clone() {
        for cpu in all.clone() {
            alone(move || {
                narrow(&[narrowed]);
                affinity::pin_to(cpu).unwrap();
                assert_eq!(mask(), [cpu]);
            });
        }
    }
}

#[test]
fn a_thread_that_is_pinned_can_be_pinned_elsewhere() {
    let all = mask();
    for cpu in all.clone() {
        let all = all.clone();
        alone(move || {
            narrow(&[cpu]);
            assert_eq!(affinity::allowed().unwrap(), [cpu]);
            let available = affinity::available().unwrap();
            assert!(all.iter().all(|cpu| available.contains(cpu)), "{all:?} {available:?}");
            assert_eq!(mask(), [cpu], "to ask changes nothing");
            affinity::pin_to_any(available.iter().rev().copied().chain(available.clone())).unwrap();
            assert_eq!(mask(), available);
        });
    }
}

#[test]
fn guard_restores_the_old_cpus() {
    alone(|| {
        let before = mask();
        let (first, last) = (before[0], before[before.len() - 1]);
        let outer = Pinned::to(last).unwrap();
        assert_eq!(mask(), [last]);
        {
            let _inner = Pinned::to_any([first]).unwrap();
            assert_eq!(mask(), [first]);
        }
        assert_eq!(mask(), [last]);
        let error = Pinned::to(NO_CPU).unwrap_err();
        assert_eq!((error.cpus(), mask()), (&[NO_CPU][..], vec![last]));
        drop(outer);
        assert_eq!(mask(), before);
    });
}

/// All are granted, or none; and the error names those that are not there.
#[test]
fn a_cpu_that_is_not_there() {
    let (all, available) = (mask(), affinity::available().unwrap());
    for (asked, refused, reason) in [
        (vec![NO_CPU], vec![NO_CPU], PinReason::NotThere),
        (vec![all[0], NO_CPU], vec![NO_CPU], PinReason::NotThere),
        (vec![NO_CPU, NO_CPU - 1], vec![NO_CPU - 1, NO_CPU], PinReason::NotThere),
        (vec![1024], vec![1024], PinReason::TooLarge { limit: 1024 }),
        (vec![usize::MAX, 0, 5_000], vec![5_000, usize::MAX], PinReason::TooLarge { limit: 1024 }),
        (vec![], vec![], PinReason::NoCpu),
    ] {
        let error = affinity::pin_to_any(asked.clone()).unwrap_err();
        assert_eq!((error.cpus(), error.reason()), (&refused[..], reason));
        assert_eq!((error.available(), mask()), (&available[..], all.clone()), "nothing has changed");
        let text = error.to_string();
        for part in [reason.to_string(), format!("(this thread may run on {available:?})")] {
            assert!(text.contains(&part), "{part:?} is not in {text:?}");
        }
        assert_eq!(io::Error::from(error.clone()).kind(), io::ErrorKind::InvalidInput);
        if let [cpu] = asked[..] {
            assert_eq!(affinity::pin_to(cpu), Err(error));
            assert!(text.starts_with(&format!("can't run this thread on CPU {cpu}: ")), "{text}");
        }
    }
    // An error has the same text wherever it comes from.
    let here = affinity::pin_to(NO_CPU).unwrap_err();
    let place = here.to_string().split_once(" on ").unwrap().1.to_owned();
    let (_producer, consumer) = spsc::channel::<u64>(4);
    let of_worker = Worker::builder(consumer, ()).core(NO_CPU).spawn(|(), _, _| ()).unwrap_err();
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let of_stage = stages.then(|x| x).core(NO_CPU).try_build().unwrap_err();
    for error in [&of_worker as &dyn Error, &of_stage] {
        assert_eq!(error.to_string().split_once(" on ").unwrap().1, place);
    }
}

/// From now on the system refuses this thread, and those that it spawns, to be moved; and says `errno`. False
/// where it may not have that.
fn refuse_pins(errno: i32) -> bool {
    let instruction = |code: u32, k: u32, not: u8| libc::sock_filter { code: code as u16, jt: 0, jf: not, k };
    // The number of the system call is the first word of what the filter sees.
    let filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_sched_setaffinity as u32, 1),
        instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | u32::try_from(errno).unwrap(), 0),
        instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: both calls take these arguments, and the filter lives as long as the second one.
    let is_set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    let result = sched_setaffinity(None, &sched_getaffinity(None).unwrap());
    is_set && result.is_err_and(|error| error.raw_os_error() == errno)
}

/// What a container's set of CPUs does (`EINVAL`), and a sandbox (`EPERM`).
#[test]
fn cpu_that_this_process_may_not_use() {
    for (errno, reason) in [(libc::EINVAL, PinReason::NotAllowed), (libc::EPERM, PinReason::Os(libc::EPERM))]
    {
        alone(move || {
            let cpu = mask()[0];
            if !refuse_pins(errno) {
                return; // this machine allows no filter
            }
            let error = affinity::pin_to(cpu).unwrap_err();
            assert_eq!((error.cpus(), error.reason()), (&[cpu][..], reason));
            assert_eq!(error.available(), mask(), "what it has");
            let kind = io::Error::from_raw_os_error(errno).kind();
            assert_eq!(io::Error::from(error).kind(), kind);
        });
    }
}

/// A set of CPUs of the kernel (a *cpuset*), as containers have one. It is removed when this is dropped.
struct CpuGroup(std::path::PathBuf);

impl CpuGroup {
    /// One with this CPU. `None` where this process may not make one. (Of the first version of control
    /// groups, in which a thread can be in another group than the others of its process.)
    fn with(cpu: usize) -> Option<Self> {
        let parent = std::path::Path::new("/sys/fs/cgroup/cpuset");
        let group = Self(parent.join(format!("annulus-test-{}", std::process::id())));
        std::fs::create_dir(&group.0).ok()?;
        let nodes = std::fs::read_to_string(parent.join("cpuset.mems")).ok()?;
        std::fs::write(group.0.join("cpuset.mems"), nodes.trim()).ok()?;
        std::fs::write(group.0.join("cpuset.cpus"), cpu.to_string()).ok()?;
        Some(group)
    }

    /// The calling thread, and the threads that it spawns, are in it from now on.
    fn enter(&self) {
        let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
        std::fs::write(self.0.join("tasks"), thread).unwrap();
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        // The thread that was in it may still be about to end.
        while std::fs::remove_dir(&self.0).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy) {
            thread::yield_now();
        }
    }
}

/// The real set of CPUs of a container: what is outside it is refused by number, and the error names what is
/// in it.
#[test]
fn cpu_outside_the_set_of_a_container() {
    let [inside, outside, ..] = mask()[..] else { return };
    let Some(group) = CpuGroup::with(inside) else {
        eprintln!("this process may not make a set of CPUs: not tested");
        return;
    };
    let group = std::sync::Arc::new(group);
    let of_thread = std::sync::Arc::clone(&group);
    alone(move || {
        of_thread.enter();
        assert_eq!((mask(), affinity::available().unwrap()), (vec![inside], vec![inside]));
        for asked in [vec![outside], vec![inside, outside]] {
            let error = affinity::pin_to_any(asked).unwrap_err();
            assert_eq!((error.cpus(), error.reason()), (&[outside][..], PinReason::NotAllowed));
            assert_eq!((error.available(), mask()), (&[inside][..], vec![inside]), "nothing has changed");
            let place =
                format!("on CPU {outside}: this process may not use it (this thread may run on [{inside}])");
            assert!(error.to_string().ends_with(&place), "{error}");
        }
        affinity::pin_to(inside).unwrap();
    });
}

/// What the kernel and the topology say of the same CPUs.
#[test]
fn topology_matches_the_kernel() {
    let topology = Topology::read();
    let with = |is_there: fn(&affinity::Cpu) -> bool| {
        let cpus = topology.cpus().iter().filter(|cpu| is_there(cpu));
        cpus.map(|cpu| cpu.number).collect::<Vec<_>>()
    };
    assert_eq!(with(|cpu| cpu.is_allowed), mask());
    assert_eq!(with(|cpu| cpu.is_available), affinity::available().unwrap());
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let numbers = info.lines().filter_map(|line| line.strip_prefix("processor")?.split_once(':'));
    let numbers: Vec<usize> = numbers.map(|(_, number)| number.trim().parse().unwrap()).collect();
    assert_eq!(with(|cpu| cpu.is_online != Some(false)), numbers);
    for cpu in topology.cpus() {
        let is_in = |list: &Option<Vec<usize>>| list.as_ref().is_none_or(|list| list.contains(&cpu.number));
        assert!(is_in(&cpu.same_core) && is_in(&cpu.same_l2) && is_in(&cpu.same_cache), "{cpu:?}");
    }
    alone(|| {
        let cpu = mask()[0];
        narrow(&[cpu]);
        let topology = Topology::read();
        let allowed: Vec<_> = topology.cpus().iter().filter(|cpu| cpu.is_allowed).collect();
        assert_eq!((allowed.len(), allowed[0].number), (1, cpu));
    });
}

#[test]
fn spread_is_over_cpus_that_can_be_pinned_to() {
    let all = mask();
    for count in 0..=all.len() {
        let cpus = match affinity::spread(count) {
            Ok(cpus) => cpus,
            Err(SpreadError::Hidden { .. }) => return, // this machine hides it
            Err(error) => panic!("{error}"),
        };
        assert_eq!(cpus.len(), count);
        let pinned: Vec<_> = cpus.iter().map(|&cpu| thread::spawn(move || affinity::pin_to(cpu))).collect();
        for thread in pinned {
            thread.join().unwrap().unwrap();
        }
    }
    let error = affinity::spread(all.len() + 1).unwrap_err();
    assert_eq!(error, SpreadError::TooMany { asked: all.len() + 1, cpus: all.clone() });
    alone(move || {
        let last = all[all.len() - 1];
        narrow(&[last]);
        assert_eq!(affinity::spread(1), Ok(vec![last]));
        let error = affinity::spread(2).unwrap_err();
        assert_eq!(error.to_string(), format!("there are no 2 CPUs to choose from, but 1: [{last}]"));
        // It is pinned, so it has one; the others are there for callers that ask for them.
        let topology = Topology::read();
        assert!(topology.spread_where(all.len(), Spread::Far, |cpu| cpu.is_available).is_ok());
    });
}
