//! Waiting by the processor, until a word changes: what a futex does in the kernel, on the core itself.
//!
//! | processor | watches the word | waits | it is there |
//! | --- | --- | --- | --- |
//! | x86-64, Intel | `UMONITOR` | `UMWAIT` | where CPUID says so (leaf 7, ECX, bit 5) |
//! | x86-64, AMD | `MONITORX` | `MWAITX`, with its timer | where CPUID says so (leaf `8000_0001h`, ECX, bit 29) |
//! | aarch64 | `LDXR` | `WFET`, else `WFE` | where Linux says so: it has `WFET`, or it sends all cores an event now and then |
//!
//! Nothing is tried to see whether it works: an instruction that the processor does not have, or that the
//! hypervisor does not allow, ends the process.

mod kind;
mod wait;

#[cfg(all(
    target_arch = "aarch64",
    target_os = "linux",
    target_pointer_width = "64",
    feature = "std",
    not(any(annulus_loom, miri))
))]
#[path = "aarch64.rs"]
mod instructions;
#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    not(any(target_env = "sgx", annulus_loom, miri))
))]
#[path = "x86_64.rs"]
mod instructions;
#[cfg(not(any(
    all(
        target_arch = "aarch64",
        target_os = "linux",
        target_pointer_width = "64",
        feature = "std",
        not(any(annulus_loom, miri))
    ),
    all(
        target_arch = "x86_64",
        target_pointer_width = "64",
        not(any(target_env = "sgx", annulus_loom, miri))
    )
)))]
#[path = "none.rs"]
mod instructions;

pub use kind::ProcessorWait;
pub(crate) use wait::{BOUND, pause, wait_while};
