//! Joins and parallel stages: one inlet or outlet that is made of several.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::port::{BoxInlet, BoxOutlet, CountedConsumer, Inlet, Outlet};
use super::readers::WaitPlan;
use super::timing::Timing;
use crate::base::drop_all::Contained;
use crate::error::RecvError;
use crate::sync::seeded;
use crate::wait::Control;

/// Pairs: the first message of one with the first of the other, and so on.
pub(super) struct Zip<A, B> {
    pub(super) left: JoinSide<A>,
    pub(super) right: JoinSide<B>,
}

/// One side of a join. `next` waits for its partners.
pub(super) struct JoinSide<T> {
    inlet: BoxInlet<T>,
    next: Option<Contained<T>>,
}

impl<T> JoinSide<T> {
    pub(super) fn new(inlet: BoxInlet<T>) -> Self {
        Self { inlet, next: None }
    }

    /// Waits for the next message.
    fn fill(&mut self, how: WaitPlan<'_>) -> Result<(), RecvError> {
        if self.next.is_none() {
            self.next = Some(Contained::new(self.inlet.receive(how)?));
        }
        Ok(())
    }

    /// Whether the next message is there.
    fn has_next(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.inlet.try_receive().map(Contained::new);
        }
        self.next.is_some()
    }

    /// Takes the next message, if it is there.
    fn take(&mut self) -> Option<T> {
        self.next.take().map(Contained::into_inner)
    }
}

impl<A: Send, B: Send> Zip<A, B> {
    /// The next of both, if they are there.
    fn take(&mut self) -> Option<(A, B)> {
        self.left.take().zip(self.right.take())
    }
}

impl<A: Send, B: Send> Inlet<(A, B)> for Zip<A, B> {
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<(A, B), RecvError> {
        self.left.fill(how)?;
        self.right.fill(how)?;
        if seeded!("zip_crosses") {
            self.right.next = None;
            self.right.fill(how)?;
        }
        self.take().ok_or(RecvError::CLOSED)
    }

    fn try_receive(&mut self) -> Option<(A, B)> {
        if self.left.has_next() && self.right.has_next() { self.take() } else { None }
    }

    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>)) {
        self.left.inlet.each_control(see);
        self.right.inlet.each_control(see);
    }
}

/// Rows: the first message of each, then the second of each, and so on.
pub(super) struct Rows<T> {
    sides: Vec<JoinSide<T>>,
}

impl<T> Rows<T> {
    pub(super) fn new(sides: Vec<JoinSide<T>>) -> Self {
        Self { sides }
    }

    /// The next of all.
    fn take(&mut self) -> Vec<T> {
        let mut row = Vec::with_capacity(self.sides.len());
        let next = self.sides.iter_mut().filter_map(JoinSide::take);
        if seeded!("rows_cross") {
            row.extend(next.rev());
        } else {
            row.extend(next);
        }
        row
    }
}

impl<T: Send> Inlet<Vec<T>> for Rows<T> {
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<Vec<T>, RecvError> {
        self.sides.iter_mut().try_for_each(|side| side.fill(how))?;
        Ok(self.take())
    }

    fn try_receive(&mut self) -> Option<Vec<T>> {
        self.sides.iter_mut().all(JoinSide::has_next).then(|| self.take())
    }

    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>)) {
        self.sides.iter().for_each(|side| side.inlet.each_control(see));
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
}

impl<T: Send + 'static> Outlet<T> for Deal<T> {
    fn pass(&mut self, message: T, timing: &mut Timing<'_>) -> bool {
        let is_open = self.outlets[self.next].pass(message, timing);
        self.next = (self.next + 1) % self.outlets.len();
        is_open
    }

    /// Where one is gone, what comes now is behind the message that is lost there.
    fn is_closed(&self) -> bool {
        self.outlets.iter().any(|outlet| outlet.is_closed())
    }

    fn wake_at_the_end(&self, control: &Arc<Control>) {
        self.outlets.iter().for_each(|outlet| outlet.wake_at_the_end(control));
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

    /// A message of the one whose turn it is.
    fn take<E>(&mut self, receive: impl FnOnce(&mut CountedConsumer<T>) -> Result<T, E>) -> Result<T, E> {
        let message = receive(&mut self.inlets[self.next])?;
        self.next = (self.next + 1) % self.inlets.len();
        Ok(message)
    }
}

impl<T: Send + 'static> Inlet<T> for Collect<T> {
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<T, RecvError> {
        self.take(|inlet| inlet.receive(how))
    }

    fn try_receive(&mut self) -> Option<T> {
        if seeded!("collect_one_by_one") {
            return None;
        }
        self.take(|inlet| inlet.try_receive().ok_or(())).ok()
    }

    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>)) {
        self.inlets.iter().for_each(|inlet| inlet.each_control(see));
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
    fn pass(&mut self, message: T, timing: &mut Timing<'_>) -> bool {
        self.outlets.retain(|outlet| !outlet.is_closed());
        let Some((last, others)) = self.outlets.split_last_mut() else { return false };
        // A clone may panic, and so may the destructor of one that is refused.
        let message = Contained::new(message);
        for outlet in others {
            // One that closed just now is left out the next time.
            outlet.pass((*message).clone(), timing);
        }
        // Others may have it.
        last.pass(message.into_inner(), timing) || !self.is_closed()
    }

    fn is_closed(&self) -> bool {
        self.outlets.iter().all(|outlet| outlet.is_closed())
    }

    fn wake_at_the_end(&self, control: &Arc<Control>) {
        self.outlets.iter().for_each(|outlet| outlet.wake_at_the_end(control));
    }
}
