// errors: 1
// says: the `?` operator can only be used in a

fn main() -> Result<(), std::num::ParseIntError> {
    let (mut orders, _consumer) = annulus::spsc::channel::<u64>(4);
    annulus::select! {
        send(orders, "7".parse()?) -> sent => drop(sent),
    }
    Ok(())
}
