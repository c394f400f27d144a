#![no_main]
libfuzzer_sys::fuzz_target!(init: annulus_fuzz::init(), |bytes: &[u8]| annulus_fuzz::schema(bytes));
