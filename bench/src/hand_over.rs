//! Something that a thread can sleep on, and another can wake it by.

/// Two ends of something that a thread can sleep on.
pub trait HandOver {
    type Waker: Waker;
    type Sleeper: Sleeper;
    fn pair() -> (Self::Waker, Self::Sleeper);
}

pub trait Waker {
    fn wake(&mut self, value: u64);
}

pub trait Sleeper: Send {
    fn sleep(&mut self) -> u64;
}
