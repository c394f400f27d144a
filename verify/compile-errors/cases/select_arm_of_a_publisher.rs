// errors: 1
// says: recv_in_select

fn main() {
    let (mut publisher, _subscribable) = annulus::broadcast::lossy::<u64>(4);
    annulus::select! {
        recv(publisher) -> price => drop(price),
    }
}
