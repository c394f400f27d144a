//! Queues whose other side is another process.

use annulus::Settings;
use annulus::shm::{Shared, WhenGone, mpsc, spsc};
use annulus::{RecvError, SendError};

use crate::tasks::{Running, guest, maker};

#[test]
fn message_wakes_a_task_and_so_does_death() {
    let (mut producer, invitation) = maker("send");
    let (mut consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
    let task = Running::new(move || async move {
        let first = consumer.recv_async().await;
        (first, consumer.recv_async().await, consumer)
    });
    task.is_idle_after(1);
    producer.step();
    task.is_idle_after(2);
    producer.kill();
    let (first, second, _consumer) = task.end();
    assert_eq!(first, Ok(0));
    assert!(second.unwrap_err().peer_died());
}

#[test]
fn room_wakes_a_task_and_so_does_death() {
    let settings = Settings::new(1);
    let Shared { handle: mut producer, invitation, .. } =
        spsc::producer::<u64>(settings, WhenGone::Close).unwrap();
    let mut consumer = guest("receive", &invitation);
    let task = Running::new(move || async move {
        producer.send_async(0).await.unwrap();
        producer.send_async(1).await.unwrap();
        (producer.send_async(2).await, producer)
    });
    task.is_idle_after(1);
    consumer.step();
    task.is_idle_after(2);
    consumer.kill();
    assert_eq!(task.end().0, Err(SendError(2)));
}

/// Of several producers, each wakes the task, and so does the death of the last one.
#[test]
fn task_is_woken_by_each_producer_and_by_the_last_death() {
    let builder = mpsc::Builder::new(annulus::Settings::new(8)).producers(2);
    let builder = builder.when_no_producer(WhenGone::Close);
    let Shared { handle: mut consumer, invitation, .. } = builder.build::<u64>().unwrap();
    let mut producers = [(); 2].map(|()| guest("join and send", &invitation));
    let task = Running::new(move || async move {
        let first = consumer.recv_async().await;
        let second = consumer.recv_async().await;
        (first, second, consumer.recv_async().await, consumer)
    });
    task.is_idle_after(1);
    producers[0].step();
    task.is_idle_after(2);
    producers[1].step();
    task.is_idle_after(3);
    producers[0].kill();
    task.is_idle_after(3);
    producers[1].kill();
    let (first, second, third, _consumer) = task.end();
    assert_eq!((first, second), (Ok(0), Ok(0)));
    assert!(third.unwrap_err().peer_died());
}

/// Room wakes the task of the producer that waits for it, and so does a close by another one.
#[test]
fn room_wakes_the_task_of_one_producer() {
    let builder = mpsc::Builder::new(annulus::Settings::new(1)).producers(2);
    let Shared { handle: mut consumer, invitation, .. } = builder.build::<u64>().unwrap();
    let (other, _) = mpsc::producer::<u64>(&invitation).unwrap();
    let (mut producer, _) = mpsc::producer::<u64>(&invitation).unwrap();
    let task = Running::new(move || async move {
        producer.send_async(0).await.unwrap();
        producer.send_async(1).await.unwrap();
        (producer.send_async(2).await, producer)
    });
    task.is_idle_after(1);
    assert_eq!(consumer.recv(), Ok(0));
    task.is_idle_after(2);
    other.close();
    assert_eq!(task.end().0, Err(SendError(2)));
    assert_eq!((consumer.recv(), consumer.recv()), (Ok(1), Err(RecvError::CLOSED)));
}
