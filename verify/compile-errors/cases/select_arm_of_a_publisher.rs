// errors: 1
// says: `annulus::broadcast::Publisher<u64>` cannot receive messages by value

fn main() {
    let (mut publisher, _subscribable) = annulus::broadcast::lossy::<u64>(4);
    annulus::select! {
        recv(publisher) -> price => drop(price),
    }
}
