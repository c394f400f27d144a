// errors: 1
// says: `select!` expects an arm: `recv(handle) -> message => expression`
// says: found `receive(orders) -> order => drop(order)`

fn main() {
    let (_producer, mut orders) = annulus::spsc::channel::<u64>(4);
    annulus::select! {
        receive(orders) -> order => drop(order)
    }
}
