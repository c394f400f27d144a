//! Rings whose publisher waits for its readers, by verbs that wait, in each library's own way.

use annulus::broadcast::Lossless;

use super::{
    Annulus, AnnulusLossless, FanOut, Gated, Named, PhotonRing, PhotonRingBounded, Publisher, Reader, Tried,
    Waiting,
};

/// Of a library whose publisher waits anyway; its reader, too.
macro_rules! waiting {
    ($ring:ident, $tried:ty, $name:expr) => {
        pub struct $ring;

        impl Named for $ring {
            const NAME: &'static str = $name;
        }

        impl<const READERS: usize> Gated<READERS> for $ring {}

        impl<const READERS: usize> FanOut<READERS> for $ring {
            type Publisher = <$tried as FanOut<READERS>>::Publisher;
            type Reader = Waiting<<$tried as FanOut<READERS>>::Reader>;

            fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
                let (publisher, readers) = <$tried>::channel(capacity);
                (publisher, readers.map(Waiting))
            }
        }
    };
}

waiting!(AnnulusLosslessWaiting, AnnulusLossless, Annulus::NAME);
waiting!(PhotonRingBoundedWaiting, PhotonRingBounded, PhotonRing::NAME);

impl Reader for Waiting<annulus::broadcast::Subscriber<u64, Lossless>> {
    #[inline(always)]
    fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
        self.0.recv().map(receive).is_ok()
    }
}

impl Reader for Waiting<photon_ring::Subscriber<u64>> {
    #[inline(always)]
    fn poll(&mut self, mut receive: impl FnMut(u64)) -> bool {
        receive(self.0.recv());
        true
    }
}

/// A lossy ring, whose publisher waits for nobody; its readers do.
pub struct AnnulusLossyWaiting;

impl Named for AnnulusLossyWaiting {
    const NAME: &'static str = Annulus::NAME;
}

impl<const READERS: usize> FanOut<READERS> for AnnulusLossyWaiting {
    type Publisher = annulus::broadcast::Publisher<u64>;
    type Reader = Waiting<annulus::broadcast::Subscriber<u64>>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let (publisher, readers) = <Annulus as FanOut<READERS>>::channel(capacity);
        (publisher, readers.map(Waiting))
    }
}

impl Reader for Waiting<annulus::broadcast::Subscriber<u64>> {
    #[inline(always)]
    fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
        self.0.recv().map(receive).is_ok()
    }
}

/// A ring of a library that can wait or try.
macro_rules! both {
    ($tried:ident, $waiting:ident, $name:literal, $publisher:ty, $reader:ty, |$capacity:ident| $make:expr) => {
        pub struct $tried;
        pub struct $waiting;
        both!(@ $tried, $name, Tried, $publisher, $reader, $capacity, $make);
        both!(@ $waiting, $name, Waiting, $publisher, $reader, $capacity, $make);

        impl Reader for Tried<$reader> {
            #[inline(always)]
            fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
                self.0.try_recv().map(receive).is_ok()
            }
        }
    };
    (@ $ring:ident, $name:literal, $way:ident, $publisher:ty, $reader:ty, $capacity:ident, $make:expr) => {
        impl Named for $ring {
            const NAME: &'static str = $name;
        }

        impl<const READERS: usize> Gated<READERS> for $ring {}

        impl<const READERS: usize> FanOut<READERS> for $ring {
            type Publisher = $way<$publisher>;
            type Reader = $way<$reader>;

            fn channel($capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
                let (publisher, readers): (_, [_; READERS]) = $make;
                ($way(publisher), readers.map($way))
            }
        }
    };
}

both!(Bus, BusWaiting, "bus", bus::Bus<u64>, bus::BusReader<u64>, |capacity| {
    let mut bus = bus::Bus::new(capacity);
    let readers = std::array::from_fn(|_| bus.add_rx());
    (bus, readers)
});

impl Publisher<u64> for Tried<bus::Bus<u64>> {
    #[inline(always)]
    fn publish(&mut self, message: u64) {
        while self.0.try_broadcast(message).is_err() {
            std::hint::spin_loop();
        }
    }
}

impl Publisher<u64> for Waiting<bus::Bus<u64>> {
    #[inline(always)]
    fn publish(&mut self, message: u64) {
        self.0.broadcast(message);
    }
}

impl Reader for Waiting<bus::BusReader<u64>> {
    #[inline(always)]
    fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
        self.0.recv().map(receive).is_ok()
    }
}

both!(
    AsyncBroadcast,
    AsyncBroadcastWaiting,
    "async-broadcast",
    async_broadcast::Sender<u64>,
    async_broadcast::Receiver<u64>,
    |capacity| {
        let (sender, receiver) = async_broadcast::broadcast(capacity);
        // The first is dropped: nobody would read it.
        (sender, std::array::from_fn(|_| receiver.new_receiver()))
    }
);

impl Publisher<u64> for Tried<async_broadcast::Sender<u64>> {
    #[inline(always)]
    fn publish(&mut self, message: u64) {
        while self.0.try_broadcast(message).is_err() {
            std::hint::spin_loop();
        }
    }
}

impl Publisher<u64> for Waiting<async_broadcast::Sender<u64>> {
    #[inline(always)]
    fn publish(&mut self, message: u64) {
        assert!(self.0.broadcast_blocking(message).is_ok(), "the readers are there");
    }
}

impl Reader for Waiting<async_broadcast::Receiver<u64>> {
    #[inline(always)]
    fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
        self.0.recv_blocking().map(receive).is_ok()
    }
}
