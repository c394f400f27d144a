// errors: 1
// says: `select!` has no arm that receives or sends

fn main() {
    annulus::select! {
        default => {}
    }
}
