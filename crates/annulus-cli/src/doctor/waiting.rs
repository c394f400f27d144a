//! How threads wait: instructions that wait until a word changes (UMWAIT, MWAITX, WFE), and calls by which
//! threads sleep and are woken.

use annulus::wait::ProcessorWait;

use super::answers::Membarrier;
use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;
use crate::text::duration;

/// How `WaitStrategy::Monitor` waits here, as the library found it.
pub(super) fn processor_wait(machine: &Machine) -> Read {
    let is_hypervisor = || machine.cpu_info().is_ok_and(|info| info.has("hypervisor"));
    match machine.answers.processor_wait {
        None => Err(Unseen::NotHere),
        Some(ProcessorWait::Pause) if is_hypervisor() => Ok(Reading::not_there(
            "no such instruction: the processor has none, or the virtual machine hides it; \
             WaitStrategy::Monitor pauses between polls",
        )),
        Some(ProcessorWait::Pause) => {
            Ok(Reading::not_there("no such instruction: WaitStrategy::Monitor pauses between polls"))
        }
        Some(wait) => Ok(Reading::good(format!("{wait}: WaitStrategy::Monitor waits by it"))),
    }
}

/// The barrier that lets a sender learn at no cost whether somebody sleeps.
pub(super) fn membarrier(machine: &Machine) -> Read {
    let advice = "a kernel from 4.14 on, and a sandbox (seccomp) that lets it through";
    Ok(match machine.answers.membarrier.ok_or(Unseen::NotHere)? {
        Membarrier::PrivateExpedited => Reading::good("private expedited"),
        Membarrier::Others(bits) => {
            Reading::better(format!("not private expedited (only {bits:#x})"), advice)
        }
        Membarrier::Nothing => Reading::not_there("the system has none, or refuses it").advise(advice),
    })
}

/// The calls on which threads sleep.
pub(super) fn futex(machine: &Machine) -> Read {
    Ok(if machine.answers.futex_waitv.ok_or(Unseen::NotHere)? {
        Reading::good("futex, futex_waitv")
    } else {
        Reading::good("futex, no futex_waitv (which annulus does not need)")
    })
}

/// A sleep may be late by no more than that, in nanoseconds.
const SLACK_MAX_NS: u64 = 1_000;

/// By how much a sleep with a time limit may be late.
pub(super) fn timer_slack(machine: &Machine) -> Read {
    let slack_ns = machine.answers.timer_slack_ns.ok_or(Unseen::NotHere)?;
    let here = duration(slack_ns);
    Ok(if slack_ns <= SLACK_MAX_NS {
        Reading::good(here)
    } else {
        let advice = "prctl(PR_SET_TIMERSLACK, 1) in the thread that sleeps with a time limit";
        Reading::better(format!("{here}: a sleep may end that much later"), advice)
    })
}

#[cfg(test)]
mod tests {
    use super::super::answers::Answers;
    use super::super::fake::{Fake, said};
    use super::*;

    fn with(check: fn(&Machine) -> Read, answers: Answers) -> String {
        said(check(&Machine { answers, ..Fake::new().machine() }))
    }

    #[test]
    fn answers_have_verdicts() {
        let answer = |membarrier| Answers { membarrier, ..Answers::default() };
        assert_eq!(with(membarrier, answer(Some(Membarrier::PrivateExpedited))), "good: private expedited");
        let others = with(membarrier, answer(Some(Membarrier::Others(1))));
        assert!(
            others.starts_with("could be better: not private expedited (only 0x1) -> a kernel"),
            "{others}"
        );
        let nothing = with(membarrier, answer(Some(Membarrier::Nothing)));
        assert!(
            nothing.starts_with("not there: the system has none, or refuses it -> a kernel"),
            "{nothing}"
        );

        let answer = |futex_waitv| Answers { futex_waitv, ..Answers::default() };
        assert_eq!(with(futex, answer(Some(true))), "good: futex, futex_waitv");
        assert!(with(futex, answer(Some(false))).starts_with("good: futex, no futex_waitv"));

        let answer = |timer_slack_ns| Answers { timer_slack_ns, ..Answers::default() };
        assert_eq!(with(timer_slack, answer(Some(1))), "good: 1 ns");
        let late = with(timer_slack, answer(Some(50_000)));
        assert!(
            late.starts_with("could be better: 50.0 µs: a sleep may end that much later -> prctl("),
            "{late}"
        );
    }

    #[test]
    fn no_answer_is_hidden() {
        for check in [membarrier, futex, timer_slack] {
            assert_eq!(with(check, Answers::default()), "hidden: not to be seen on this system");
        }
    }

    #[test]
    fn library_decides_how_the_processor_waits() {
        let with = |wait, flags: &str| {
            let fake = Fake::new().file("/proc/cpuinfo", format!("processor : 0\nflags : {flags}\n"));
            let answers = Answers { processor_wait: wait, ..Answers::default() };
            said(processor_wait(&Machine { answers, ..fake.machine() }))
        };
        let by_umwait = "good: umwait: WaitStrategy::Monitor waits by it";
        assert_eq!(with(Some(ProcessorWait::Umwait), "fpu hypervisor"), by_umwait);
        assert!(with(Some(ProcessorWait::Pause), "fpu hypervisor").contains("the virtual machine hides it"));
        assert!(!with(Some(ProcessorWait::Pause), "fpu").contains("virtual machine"));
        assert_eq!(with(None, "fpu"), "hidden: not to be seen on this system");
    }
}
