// errors: 1
// says: `select!` has two `default` arms; it can have one

fn main() {
    let (_producer, mut orders) = annulus::spsc::channel::<u64>(4);
    annulus::select! {
        recv(orders) -> order => drop(order),
        default => {}
        default(std::time::Duration::from_secs(1)) => {}
    }
}
