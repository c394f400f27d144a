// errors: 0

// Variants and fields with names of the trait's own, raw names, and names of keywords to come.
#![deny(warnings)]
#![allow(dead_code)]

#[derive(Clone, Copy, annulus::Message)]
enum Transfer {
    Wire { from: u64, to: u8 },
    Cash(u32),
    Message,
}

#[derive(Clone, Copy, annulus::Message)]
enum Wire {
    Wire,
    Self_,
}

#[derive(Clone, Copy, annulus::Message)]
#[repr(u8)]
enum Byte {
    Wire,
    NoUninit,
}

#[derive(Clone, Copy, annulus::Message)]
#[message(packed)]
struct Raw {
    r#type: u8,
    r#gen: Option<r#struct>,
    wire: u64,
}

#[derive(Clone, Copy, annulus::Message)]
#[allow(non_camel_case_types)]
struct r#struct {
    r#type: u8,
    r#match: [u8; 7],
}

#[derive(Clone, Copy, annulus::Message)]
#[allow(non_camel_case_types)]
enum r#enum {
    r#fn { r#loop: u8, r#where: u32 },
    r#mod(r#struct),
    r#if,
}

fn main() {}
