// errors: 7
// says: verbs for tasks need the feature `async` of `annulus`
// says: `cargo add annulus --features async`
// at: consumer.recv_async().await
// at: producer.send_async(1).await
// at: subscriber.recv_async().await
// at: publisher.publish_async(1).await
// at: publisher.publish_async(|text| text.push('a')).await
// at: newest.changed_async().await
// at: shutdown.wait_async().await

async fn queue() {
    let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(8);
    producer.send_async(1).await.unwrap();
    let _number: u64 =
        consumer.recv_async().await.unwrap();
}

async fn ring() {
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(8);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_async(1).await.unwrap();
    let _number: u64 =
        subscriber.recv_async().await.unwrap();
}

async fn events() {
    let (mut publisher, _subscribable) = annulus::event::channel(8, String::new);
    publisher.publish_async(|text| text.push('a')).await.unwrap();
}

async fn values() {
    let (_sender, mut newest) = annulus::watch::channel(1);
    newest.changed_async().await.unwrap();
    let shutdown = annulus::Shutdown::new();
    shutdown.wait_async().await;
}

fn main() {
    drop((queue(), ring(), events(), values()));
}
