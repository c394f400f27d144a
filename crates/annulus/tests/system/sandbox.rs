//! A thread to which the system refuses `membarrier` after it made its ring: its notifier and its tasks lose
//! nothing all the same, and rest while nothing comes.
#![cfg(all(target_os = "linux", feature = "std", not(any(miri, annulus_loom))))]

use crate::support::{spawn, without_standing_still};
use annulus::{Notifier, Readiness, TryRecvError, spsc};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

/// From now on this thread, and no other one, is refused `membarrier`. False where it may not have that.
fn refuse_barriers() -> bool {
    // The number of the system call is the first word of what the filter sees.
    let filter = [
        libc::sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: 0 },
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: libc::SYS_membarrier as u32,
        },
        libc::sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        },
        libc::sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ALLOW,
        },
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: both calls take these arguments, and the filter lives as long as the second one.
    let is_set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    is_set && membarrier(MembarrierCommand::PrivateExpedited) == Err(Errno::PERM)
}

/// A queue whose producer has light fences, in a process that has registered: so barriers that are refused
/// are refused for good.
fn grown() -> (spsc::Producer<u64>, spsc::Consumer<u64>) {
    annulus::wait::prepare_process();
    let (mut producer, mut consumer) = spsc::channel(4);
    for number in 0..1000 {
        producer.send(number).unwrap();
        assert_eq!(consumer.recv(), Ok(number));
    }
    (producer, consumer)
}

#[test]
fn loop_without_the_fence_loses_nothing() {
    const COUNT: u64 = 2_000;
    crate::support::alone!();
    without_standing_still(|| {
        if !membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED) {
            return; // an emulator: wakers pay for a fence of their own there
        }
        let (mut producer, consumer) = grown();
        let reader = spawn(move || {
            if !refuse_barriers() {
                return COUNT; // this machine allows no filter
            }
            let mut notifier = Notifier::new(consumer).unwrap();
            let is_readable = |notifier: &Notifier<_>, wait| {
                poll(&mut [PollFd::new(notifier, PollFlags::IN)], wait).unwrap() == 1
            };
            let mut received = 0;
            loop {
                match notifier.get_mut().try_recv() {
                    Ok(number) => {
                        assert_eq!(number, received);
                        received += 1;
                    }
                    Err(TryRecvError::Closed) => return received,
                    Err(TryRecvError::Empty) => {
                        if notifier.arm() == Readiness::Armed {
                            assert!(is_readable(&notifier, None));
                        }
                    }
                }
            }
        });
        // It begins after the first look of the other thread, as far as that can be told.
        std::thread::sleep(std::time::Duration::from_millis(100));
        for number in 0..COUNT {
            if producer.send(number).is_err() {
                break; // nobody listens: no filter
            }
        }
        drop(producer);
        assert_eq!(reader.join().unwrap(), COUNT);
    });
}

/// Without the fence a notifier that is armed is not readable, and no task is woken, before there is
/// something: neither uses a core.
#[test]
fn waiters_without_the_fence_use_no_core() {
    crate::support::alone!();
    #[cfg(feature = "async")]
    let (mut producer, mut consumer) = grown();
    let (mut other_producer, other_consumer) = grown();
    #[cfg(feature = "async")]
    let bus = annulus::bus::Bus::<u64>::new(4);
    if !refuse_barriers() {
        return; // this machine allows no filter
    }
    let mut notifier = Notifier::new(other_consumer).unwrap();
    let is_readable = |notifier: &Notifier<_>| {
        poll(&mut [PollFd::new(notifier, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap()
            == 1
    };
    for number in 0..3 {
        assert_eq!(notifier.arm(), Readiness::Armed);
        assert!(!is_readable(&notifier), "it looks again and again");
        other_producer.send(number).unwrap();
        assert!(is_readable(&notifier));
        assert_eq!(notifier.get_mut().try_recv(), Ok(number));
    }
    #[cfg(feature = "async")]
    {
        use crate::support::tasks::Counting;
        use std::task::Poll;

        let count = Counting::new();
        for number in 0..3 {
            let mut future = consumer.recv_async();
            assert_eq!(count.poll(&mut future), Poll::Pending);
            assert_eq!(count.wakes() as u64, number, "it polls again and again");
            producer.send(number).unwrap();
            assert_eq!(
                (count.wakes() as u64, count.poll(&mut future)),
                (number + 1, Poll::Ready(Ok(number)))
            );
        }
        let mut all = bus.subscribe_matching("*").unwrap();
        let mut topic = bus.publisher("a");
        let count = Counting::new();
        for number in 0..3 {
            let mut future = all.recv_async();
            assert_eq!(count.poll(&mut future), Poll::Pending);
            assert_eq!(count.wakes() as u64, number, "it polls again and again");
            topic.publish(number);
            assert_eq!(count.wakes() as u64, number + 1);
            assert!(count.poll(&mut future).is_ready());
        }
    }
}
