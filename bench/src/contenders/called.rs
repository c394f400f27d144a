//! A contender whose methods are calls: what it costs where the compiler does not inline it.

use std::marker::PhantomData;

use super::{Contender, Named, Payload, Publisher, Subscriber};

pub struct Called<C>(PhantomData<C>);

/// One end of it.
pub struct CalledEnd<E>(E);

impl<C: Named> Named for Called<C> {
    const NAME: &'static str = C::NAME;
}

impl<C: Contender> Contender for Called<C> {
    type Publisher<T: Payload> = CalledEnd<C::Publisher<T>>;
    type Subscriber<T: Payload> = CalledEnd<C::Subscriber<T>>;

    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
        let (publisher, subscriber) = C::channel(capacity);
        (CalledEnd(publisher), CalledEnd(subscriber))
    }
}

impl<T, E: Publisher<T>> Publisher<T> for CalledEnd<E> {
    #[inline(never)]
    fn publish(&mut self, message: T) {
        self.0.publish(message);
    }
}

impl<T, E: Subscriber<T>> Subscriber<T> for CalledEnd<E> {
    type Error = E::Error;

    #[inline(never)]
    fn try_recv(&mut self) -> Result<T, Self::Error> {
        self.0.try_recv()
    }

    fn cursor(&self) -> u64 {
        self.0.cursor()
    }

    fn total_lagged(&self) -> u64 {
        self.0.total_lagged()
    }
}
