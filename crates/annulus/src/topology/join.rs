//! Joins and parallel stages: one inlet or outlet that is made of several.

use alloc::vec::Vec;

use super::port::{BoxInlet, BoxOutlet, Counted, CountedConsumer, Inlet, Outlet};
use super::runner::MOST;
use crate::error::RecvError;
use crate::queue::spsc;
use crate::sync::mutated;
use crate::wait::WaitStrategy;

/// Pairs: the first message of one with the first of the other, and so on.
pub(super) struct Zip<A, B> {
    pub(super) left: Side<A>,
    pub(super) right: Side<B>,
}

/// One side of a [`Zip`]: what was received and has no partner yet is in `waiting`, the next one first.
pub(super) struct Side<T> {
    inlet: BoxInlet<T>,
    waiting: Vec<T>,
}

impl<T> Side<T> {
    pub(super) fn new(inlet: BoxInlet<T>) -> Self {
        Self { inlet, waiting: Vec::with_capacity(MOST) }
    }

    /// Waits until at least one message waits for its partner.
    fn fill(&mut self, strategy: WaitStrategy) -> Result<(), RecvError> {
        if self.waiting.is_empty() {
            self.inlet.receive(&mut self.waiting, MOST, strategy)?;
        }
        Ok(())
    }
}

impl<A: Send, B: Send> Inlet<(A, B)> for Zip<A, B> {
    fn receive(
        &mut self,
        batch: &mut Vec<(A, B)>,
        most: usize,
        strategy: WaitStrategy,
    ) -> Result<(), RecvError> {
        self.left.fill(strategy)?;
        self.right.fill(strategy)?;
        let count = most.min(self.left.waiting.len()).min(self.right.waiting.len());
        // Most often all of both, so nothing moves up.
        let left = self.left.waiting.drain(..count);
        let right = self.right.waiting.drain(..count);
        if mutated!("zip_crosses") {
            batch.extend(left.zip(right.rev()));
            return Ok(());
        }
        batch.extend(left.zip(right));
        Ok(())
    }
}

/// Rows: the first message of each, then the second of each, and so on.
pub(super) struct Rows<T> {
    sides: Vec<Side<T>>,
}

impl<T> Rows<T> {
    pub(super) fn new(sides: Vec<Side<T>>) -> Self {
        Self { sides }
    }
}

impl<T: Send> Inlet<Vec<T>> for Rows<T> {
    fn receive(
        &mut self,
        batch: &mut Vec<Vec<T>>,
        most: usize,
        strategy: WaitStrategy,
    ) -> Result<(), RecvError> {
        let mut count = most;
        for side in &mut self.sides {
            side.fill(strategy)?;
            count = count.min(side.waiting.len());
        }
        let start = batch.len();
        batch.extend((0..count).map(|_| Vec::with_capacity(self.sides.len())));
        let add = |side: &mut Side<T>| {
            batch[start..]
                .iter_mut()
                .zip(side.waiting.drain(..count))
                .for_each(|(row, message)| row.push(message));
        };
        if mutated!("rows_cross") {
            self.sides.iter_mut().rev().for_each(add);
        } else {
            self.sides.iter_mut().for_each(add);
        }
        Ok(())
    }
}

/// Sends to several in turn: the first message to the first of them, and so on.
pub(super) struct Deal<T> {
    outlets: Vec<BoxOutlet<T>>,
    next: usize,
}

impl<T> Deal<T> {
    pub(super) fn new(outlets: Vec<BoxOutlet<T>>) -> Self {
        Self { outlets, next: 0 }
    }

    fn next(&mut self) -> &mut BoxOutlet<T> {
        &mut self.outlets[self.next]
    }

    fn went(&mut self) {
        self.next = (self.next + 1) % self.outlets.len();
    }
}

impl<T: Send + 'static> Outlet<T> for Deal<T> {
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        self.next().send(message, strategy)?;
        self.went();
        Ok(())
    }

    fn send_all(&mut self, batch: &mut Vec<T>, strategy: WaitStrategy) -> bool {
        batch.drain(..).all(|message| self.send(message, Some(strategy)).is_ok())
    }

    /// The next message would be refused.
    // Unreached: only an input asks, and none sends into several rings: decision 0076
    fn is_closed(&self) -> bool {
        self.outlets[self.next].is_closed()
    }
}

/// Receives from several in turn: so what was dealt comes back in order.
pub(super) struct Collect<T: Send> {
    inlets: Vec<CountedConsumer<T>>,
    next: usize,
}

impl<T: Send> Collect<T> {
    pub(super) fn new(inlets: Vec<CountedConsumer<T>>) -> Self {
        Self { inlets, next: 0 }
    }

    /// Takes what `receive` receives from the one whose turn it is.
    fn take<E>(
        &mut self,
        batch: &mut Vec<T>,
        receive: impl FnOnce(&mut spsc::Consumer<T>) -> Result<T, E>,
    ) -> Result<(), E> {
        let Counted { handle, counters } = &mut self.inlets[self.next];
        batch.push(receive(handle)?);
        counters.received.add(1);
        self.next = (self.next + 1) % self.inlets.len();
        Ok(())
    }
}

impl<T: Send> Inlet<T> for Collect<T> {
    fn receive(&mut self, batch: &mut Vec<T>, most: usize, strategy: WaitStrategy) -> Result<(), RecvError> {
        self.take(batch, |inlet| inlet.recv_by(strategy))?;
        let most = if mutated!("collect_one_by_one") { 1 } else { most };
        for _ in 1..most {
            // The end is found again by the next receive.
            if self.take(batch, spsc::Consumer::try_recv).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Sends a clone to each, and the message itself to the last. One that is closed is left out.
pub(super) struct Copies<T> {
    outlets: Vec<BoxOutlet<T>>,
}

impl<T> Copies<T> {
    pub(super) fn new(outlets: Vec<BoxOutlet<T>>) -> Self {
        Self { outlets }
    }
}

impl<T: Send + Clone + 'static> Outlet<T> for Copies<T> {
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        self.outlets.retain(|outlet| !outlet.is_closed());
        let Some((last, others)) = self.outlets.split_last_mut() else { return Err(message) };
        for outlet in others {
            // One that closed just now is left out the next time.
            let _ = outlet.send(message.clone(), strategy);
        }
        match last.send(message, strategy) {
            // Others may have it.
            Err(message) if self.outlets.iter().all(|outlet| outlet.is_closed()) => Err(message),
            _ => Ok(()),
        }
    }

    fn send_all(&mut self, batch: &mut Vec<T>, strategy: WaitStrategy) -> bool {
        batch.drain(..).all(|message| self.send(message, Some(strategy)).is_ok())
    }

    // Unreached: only an input asks, and none sends into several rings: decision 0076
    fn is_closed(&self) -> bool {
        self.outlets.iter().all(|outlet| outlet.is_closed())
    }
}
