//! What is dropped gives its memory back.

use super::counting::gives_back;

#[test]
fn a_ring_gives_its_memory_back() {
    gives_back("a ring", || {
        let (publisher, subscribable) = annulus::broadcast::lossy::<u64>(16);
        drop((subscribable.subscribe(), publisher, subscribable));
    });
    gives_back("many subscribers of a lossless ring", || {
        let (publisher, subscribable) =
            annulus::broadcast::Builder::new(16).headroom(2).lossless::<u64>().unwrap();
        let subscribers: Vec<_> = (0..20).map(|_| subscribable.subscribe()).collect();
        drop((publisher, subscribable, subscribers));
    });
    gives_back("a queue of many producers", || {
        let (producer, mut consumer) = annulus::queue::mpsc::channel(16);
        let producers: Vec<_> = (0..100).map(|_| producer.clone()).collect();
        for mut producer in producers {
            producer.send(Box::new(7)).unwrap();
        }
        assert_eq!(consumer.recv().map(|message| *message), Ok(7));
    });
    gives_back("a queue of many consumers", || {
        let (producer, mut consumer) = annulus::queue::mpmc::channel(16);
        let producers: Vec<_> = (0..100).map(|_| producer.clone()).collect();
        for mut producer in producers {
            producer.send(Box::new(7)).unwrap();
        }
        let consumers: Vec<_> = (0..20).map(|_| consumer.clone()).collect();
        assert_eq!(consumer.recv().map(|message| *message), Ok(7));
        drop(consumers);
    });
    gives_back("a pool", || {
        let pool = annulus::pool::BufferPool::new(100, 3);
        let (first, second) = (pool.alloc().unwrap(), pool.alloc().unwrap().into_handle());
        drop((pool, second, first));
    });
}
