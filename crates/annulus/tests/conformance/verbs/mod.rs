//! What one ring alone promises at its edges.
//!
//! ```text
//! ends          which handles are Clone, Send, Sync, an error
//! constructors  capacities that can't be had, and what their errors say
//! free_slots          publishers that wait: in time, in batches, behind a headroom
//! batches       a batch of one of many publishers stays together
//! latest        the newest message, beside publishers
//! event_handles what the handles of a ring of events say of it
//! errors        what they say
//! events        references, batches, closures inside closures
//! values        owned events by value: sent, cloned, reset
//! drops         owned values go exactly once
//! contained     several values beside each other whose destructors panic
//! taps          who is never waited for
//! clones        made while publishers look at everybody
//! closes        closes from elsewhere, and `Shutdown`
//! groups        pausing, catching up, counters
//! in_hand       what a stage has received, by whichever verb, and not processed yet
//! stages        what counts as processed, what opens a stage's gate, errors
//! processed     what a stage says is pending and processed; stages by closure
//! handlers      publishing in a closure that processes a message of the same ring
//! any_handle    `Receive` and `Transmit`: the same verbs of every handle
//! listeners     publishers that wait until somebody listens
//! programs      what a user would write: errors mixed by `?`, limits with strategies
//! graphs        stages on threads: nobody sees what was not processed before
//! ```

#[cfg(not(annulus_loom))]
mod any_handle;
mod batches;
mod clones;
mod closes;
mod constructors;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod contained;
mod drops;
mod ends;
mod errors;
mod event_handles;
mod events;
mod free_slots;
mod graphs;
mod groups;
mod handlers;
#[cfg(not(annulus_loom))]
mod in_hand;
mod latest;
#[cfg(not(annulus_loom))]
mod listeners;
mod processed;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod programs;
mod stages;
mod taps;
mod values;
