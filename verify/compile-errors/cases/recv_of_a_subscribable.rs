// errors: 3
// says: a `Subscribable` receives nothing: it makes subscribers
// says: `let mut subscriber = subscribable.subscribe();`
// at: while let Ok(number) = subscribable.recv() {
// at: if let Ok(number) = subscribable.try_recv() {
// at: let _text: Result<String, _> = subscribable.try_recv();

fn numbers() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(64);
    publisher.publish(1);
    while let Ok(number) = subscribable.recv() {
        println!("{number}");
    }
}

fn lossless() {
    let (_publisher, subscribable) = annulus::broadcast::lossless::<u64>(64);
    if let Ok(number) = subscribable.try_recv() {
        println!("{number}");
    }
}

fn events() {
    let (_publisher, subscribable) = annulus::event::channel(64, String::new);
    let _text: Result<String, _> = subscribable.try_recv();
}

fn main() {
    numbers();
    lossless();
    events();
}
