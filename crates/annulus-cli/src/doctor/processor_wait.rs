//! Instructions that wait until a word changes: UMWAIT, MWAITX, WFE.

use annulus::ProcessorWait;

use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;

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

#[cfg(test)]
mod tests {
    use super::super::answers::Answers;
    use super::super::fake::{Fake, said};
    use super::*;

    #[test]
    fn the_library_decides() {
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
