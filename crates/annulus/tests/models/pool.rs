//! What a buffer pool must do, as one thread sees it: where each slab is, what is in each, which handles are
//! good.

use annulus::pool::{Buffer, BufferPool, Handle};

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Alloc,
    Drop(usize),
    HandOut(usize),
    Redeem(usize),
    RedeemStale(usize),
    Forge(u32),
    /// A handle that was there, with one bit turned.
    Twist(usize, u32),
}

/// Any four bytes are a step.
impl From<[u8; 4]> for Step {
    fn from(bytes: [u8; 4]) -> Self {
        let [kind, pick, bit, _] = bytes;
        let pick = usize::from(pick);
        match kind % 26 {
            0..6 => Self::Alloc,
            6..9 => Self::Drop(pick),
            9..14 => Self::HandOut(pick),
            14..18 => Self::Redeem(pick),
            18..21 => Self::RedeemStale(pick),
            21..23 => Self::Forge(u32::from_be_bytes(bytes)),
            _ => Self::Twist(pick, u32::from(bit % 32)),
        }
    }
}

/// What one thread knows: where each slab is, what is in each, which handles are out and which were.
struct Model {
    pool: BufferPool,
    /// With the number that fills each.
    buffers: Vec<(Buffer, u8)>,
    handles: Vec<(Handle, u8)>,
    stale: Vec<Handle>,
    next_number: u8,
}

impl Model {
    /// `handle` came from anywhere: it is good if, and only if, it is one of those that are out.
    fn redeem(&mut self, handle: Handle) {
        let out = self.handles.iter().position(|&(out, _)| out == handle);
        match (self.pool.redeem(handle), out) {
            (Ok(buffer), Some(index)) => {
                let (handle, number) = self.handles.swap_remove(index);
                assert!(buffer.iter().all(|&byte| byte == number), "what was written before the handle");
                self.stale.push(handle);
                self.buffers.push((buffer, number));
            }
            (Err(_), None) => {}
            (Ok(_), None) => panic!("{handle:?} is not out"),
            (Err(error), Some(_)) => panic!("{handle:?} is out: {error}"),
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Alloc => match self.pool.alloc() {
                Some(mut buffer) => {
                    self.next_number = self.next_number.wrapping_add(1);
                    buffer.fill(self.next_number);
                    self.buffers.push((buffer, self.next_number));
                }
                None => assert_eq!(self.buffers.len() + self.handles.len(), self.pool.count()),
            },
            Step::Drop(pick) if !self.buffers.is_empty() => {
                let (buffer, number) = self.buffers.swap_remove(pick % self.buffers.len());
                assert!(buffer.iter().all(|&byte| byte == number), "nobody else wrote here");
            }
            Step::HandOut(pick) if !self.buffers.is_empty() => {
                let (buffer, number) = self.buffers.swap_remove(pick % self.buffers.len());
                let handle = buffer.into_handle();
                assert!(!self.stale.contains(&handle), "generations are many more than steps");
                self.handles.push((handle, number));
            }
            Step::Redeem(pick) if !self.handles.is_empty() => {
                self.redeem(self.handles[pick % self.handles.len()].0);
            }
            Step::RedeemStale(pick) if !self.stale.is_empty() => {
                self.redeem(self.stale[pick % self.stale.len()]);
            }
            Step::Forge(bits) => self.redeem(Handle::from_bits(bits)),
            Step::Twist(pick, bit) => {
                let known: Vec<_> = self
                    .handles
                    .iter()
                    .map(|&(handle, _)| handle)
                    .chain(self.stale.iter().copied())
                    .collect();
                if !known.is_empty() {
                    self.redeem(Handle::from_bits(known[pick % known.len()].to_bits() ^ 1 << bit));
                }
            }
            _ => {}
        }
        let out = self.buffers.len() + self.handles.len();
        assert_eq!(self.pool.available(), self.pool.count() - out);
    }
}

/// Takes `steps` with a new pool.
pub(crate) fn run(slab_bytes: usize, count: usize, steps: &[Step]) {
    let pool = BufferPool::new(slab_bytes, count);
    let mut model = Model { pool, buffers: vec![], handles: vec![], stale: vec![], next_number: 0 };
    for step in steps {
        model.step(step);
    }
    // The pool goes before its buffers do.
    let Model { pool, buffers, .. } = model;
    drop(pool);
    for (mut buffer, number) in buffers {
        assert!(buffer.iter().all(|&byte| byte == number));
        buffer.fill(0);
    }
}
