//! Texts of schemas: those that are right, those that are not, and any at all.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::sync::Mutex;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const QUOTE: &str = "quote{bid:f64,ask:f64,symbol:u32,side:enum u8{buy=0,sell=1}}";

fn parsed(text: &str) -> Schema {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn text_is_parsed_and_written() {
    for text in [
        QUOTE,
        "u64",
        "[f64;3]",
        "text 12",
        "{x:f32,y:f32}",
        "quote@2{bid:f64(EUR)\"best \\\"bid\\\" \\\\\"}",
        "order:enum u8{limit=0{price:f64,quantity:u32},market=1{0:u32},cancel=2}",
        "reading{sensor:text 12,value:f64?,place:{0:u8,1:u32},more:[{a:bool,b:char?};4]}",
        "enum i8{a=-128,b=127}",
        "{}",
        "bits:u128",
        "q{a:nonzero u32}",
        "größe{länge:u8(mm)}",
    ] {
        let schema = parsed(text);
        assert_eq!(schema.to_string(), text);
        assert_eq!(parsed(&schema.to_string()), schema);
    }
    assert_eq!(parsed(" quote {\n bid : f64 ,\n ask:f64,}\n").to_string(), "quote{bid:f64,ask:f64}");
}

#[test]
fn places_follow_each_other() {
    let schema = parsed("q{a:u8,b:u64,c:enum u16{x=0,y=1{v:u32}},d:text 3,e:u8?}");
    let Kind::Struct(fields) = &*schema.kind else { panic!() };
    let places: Vec<_> = fields.iter().map(|field| (field.offset, field.kind.size())).collect();
    assert_eq!(places, [(0, 1), (1, 8), (9, 6), (15, 5), (20, 2)]);
    assert_eq!(schema.size(), 22);
}

#[test]
fn bad_schema_text_is_an_error_with_its_place() {
    for (text, at, expected) in [
        ("", 0, "a kind"),
        ("quote{bid:f64", 13, "`}`"),
        ("quote{bid f64}", 10, "`:`"),
        ("q{a:f65}", 4, "a kind"),
        ("q{a:u8,a:u8}", 7, "another name"),
        ("q{a:enum f32{x=0}}", 9, "an integer"),
        ("q{a:enum u8{x=256}}", 12, "a variant"),
        ("q{a:enum i8{x=128}}", 12, "a variant"),
        ("q{a:enum i8{x=-129}}", 12, "a variant"),
        ("q{a:enum u8{}}", 12, "a variant"),
        ("q{a:u8} ", 8, ""),
        ("q{a:u8}x", 7, "the end"),
        ("q@02{}", 2, "a version"),
        ("q{a:[u8;-1]}", 8, "a length"),
        ("q{a:u8??}", 7, "one `?`"),
        ("q{a:u8(n(s)}", 7, "a unit"),
        ("q{a:u8()}", 7, "a unit"),
        ("q{a:u8(\u{7})}", 7, "a unit"),
        ("q{a:u8\"x}", 9, "a comment"),
        ("q{a:text 65536}", 9, "how many"),
        ("q{:u8}", 2, "a name"),
        ("q:{a:u8}", 2, "`:`"),
        (":u8", 1, "`:`"),
        ("q@1 u8", 4, "`:`"),
        ("q{}?", 1, "`:`"),
    ] {
        match text.parse::<Schema>() {
            Ok(_) => assert_eq!(expected, "", "{text}"),
            Err(error) => assert!(
                error.at == at && error.expected.starts_with(expected) && !expected.is_empty(),
                "{text}: {error}"
            ),
        }
    }
    assert!("[".repeat(10_000).parse::<Schema>().is_err());
    assert!(("[".repeat(40) + "u8" + &";1]".repeat(40)).parse::<Schema>().is_err());
    assert!(("[".repeat(9) + "u8" + &";4294967295]".repeat(9)).parse::<Schema>().is_err(), "too large");
}

#[test]
fn differences_name_their_fields() {
    let said = |ours: &str, theirs: &str| {
        let differences = parsed(ours).differences(&parsed(theirs));
        assert_eq!(differences.is_empty(), parsed(ours).fingerprint() == parsed(theirs).fingerprint());
        differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(said(QUOTE, QUOTE), "");
    assert_eq!(said("q{ask:f64(EUR)\"best\",_a:u8}", "q{ask:f64,_b:u8}"), "");
    assert_eq!(
        said("q{bid:f64,ask:f64}", "q{bid:f64,ask:f32,_:[u8;4]}"),
        "ask: f64 at 8 / ask: f32 at 8; no ._2 / ._2: [u8;4] at 12"
    );
    assert_eq!(said("q{a:u8,b:u8}", "q{b:u8,a:u8}"), "a: u8 at 0 / a: u8 at 1; b: u8 at 1 / b: u8 at 0");
    assert_eq!(
        said("q{a:u8}", "p@1{a:u8}"),
        "the name: `q` / the name: `p`; the version: 0 / the version: 1"
    );
    assert_eq!(
        said("q{s:enum u8{x=0,y=1}}", "q{s:enum u8{x=0,y=2}}"),
        "s.y: variant 1, number 1 / s.y: variant 1, number 2"
    );
    assert_eq!(said("q{s:[{p:f64};2]}", "q{s:[{p:u64};2]}"), "s[].p: f64 at 0 / s[].p: u64 at 0");
}

/// However many values an array of arrays has, and however often a text is nested.
#[test]
fn checker_is_as_long_as_the_text() {
    let nested = (0..9).fold("bool".to_string(), |inner, _| format!("[{inner};16]"));
    let deep = (0..15).fold("u8".to_string(), |inner, _| format!("{{a:{inner}?}}"));
    for (text, any) in [(nested, false), (deep, false), ("[[u8;0];1000000000]".into(), true)] {
        assert_eq!(Checker::new(&parsed(&text)).any_bytes_are_messages(), any, "{text}");
    }
}

/// As wide as integers are.
#[test]
fn enums_of_128_bits_have_each_number() {
    for (text, numbers) in [
        ("enum u128{a=0,b=7}", [0_i128, 7]),
        ("enum i128{a=-170141183460469231731687303715884105728,b=-1}", [i128::MIN, -1]),
    ] {
        let schema = parsed(text);
        assert_eq!(schema.to_string(), text);
        let checker = Checker::new(&schema);
        assert_eq!((checker.size(), checker.any_bytes_are_messages()), (16, false));
        assert!(numbers.iter().all(|number| checker.is_message(&number.to_ne_bytes())));
        assert!(!checker.is_message(&8_i128.to_ne_bytes()));
    }
    let refused = "enum u128{a=-1}".parse::<Schema>().unwrap_err();
    assert_eq!(refused.at, 10, "{refused}");
}

/// Schemas are equal, and have one hash, where their texts are.
#[cfg(feature = "std")]
#[test]
fn equal_schemas_have_one_hash() {
    let state = std::hash::RandomState::new();
    let hash = |text: &str| core::hash::BuildHasher::hash_one(&state, parsed(text));
    assert_eq!(hash(QUOTE), hash(&QUOTE.replace(',', " , ")));
    assert_ne!(hash(QUOTE), hash(&QUOTE.replace("ask", "asks")));
}

#[test]
#[should_panic(expected = "a constant is of a type")]
fn schema_of_a_text_is_no_part_of_a_constant() {
    let _ = parsed(QUOTE).part();
}

#[test]
fn text_that_is_too_long_is_refused() {
    let longest = format!("{QUOTE}{}", " ".repeat(Schema::LONGEST - QUOTE.len()));
    assert_eq!(parsed(&longest), parsed(QUOTE));
    let refused = format!("{longest} ").parse::<Schema>().unwrap_err();
    assert_eq!(
        (refused.at, refused.to_string().contains("65,536 bytes at most")),
        (65_536, true),
        "{refused}"
    );
}

/// Where the bytes agree with the schema, the type alone knows what is wrong.
#[test]
fn value_that_only_its_type_refuses_has_no_field() {
    let bad = BadValue::of(<u8 as crate::Message>::SCHEMA, &[7]);
    assert_eq!((bad.field(), bad.offset()), (None, 0));
    assert_eq!(bad.to_string(), "a field of a type of another library has no value of it");
}

/// Any kind, without a name of its own.
fn any_kind() -> impl Strategy<Value = String> {
    let scalar = select(Scalar::ALL.map(|(_, name)| name.to_string()).to_vec());
    let leaf = prop_oneof![
        scalar,
        (0..300_u16).prop_map(|most| format!("text {most}")),
        select(["nonzero u8", "nonzero i64"].map(ToString::to_string).to_vec()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..5_usize).prop_map(|(element, length)| format!("[{element};{length}]")),
            any_fields(inner.clone()),
            inner.clone().prop_map(|inner| if inner.ends_with('?') { inner } else { inner + "?" }),
            vec((any_fields(inner), -100..100_i8), 1..4).prop_map(|variants| {
                let mut numbers = alloc::collections::BTreeSet::new();
                let variants =
                    variants.into_iter().enumerate().filter(|(_, (_, number))| numbers.insert(*number));
                let variants = variants.map(|(at, (fields, number))| {
                    format!("v{at}={number}{}", if fields == "{}" { "" } else { &fields })
                });
                format!("enum i8{{{}}}", variants.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn any_fields(
    kind: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> + Clone {
    let note = select(["", "", "(ns)", "\"best \\\"bid\\\"\"", "(EUR)\"of it\""].to_vec());
    vec((kind, note, any::<bool>()), 0..4).prop_map(|fields| {
        let fields = fields
            .into_iter()
            .enumerate()
            .map(|(at, (kind, note, is_gap))| format!("{}{at}:{kind}{note}", if is_gap { "_" } else { "f" }));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    })
}

/// A schema that is there for ever, where a search for leaks finds it.
fn kept(schema: Schema) -> &'static Schema {
    static ALL: Mutex<Vec<&Schema>> = Mutex::new(Vec::new());
    let schema = Box::leak(Box::new(schema));
    ALL.lock().unwrap().push(schema);
    schema
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 5 } else { 500 }))]

    /// What is written is what was parsed, and equal numbers mean that no field differs.
    #[test]
    fn schema_of_any_form_is_written_and_parsed(ours in any_kind(), theirs in any_kind(), version in 0..3_u32) {
        let is_struct = |kind: &str| kind.starts_with('{') && !kind.ends_with('?');
        let text = |kind: &str| match (version, is_struct(kind)) {
            (0, _) => kind.to_string(),
            (_, true) => format!("it@{version}{kind}"),
            (_, false) => format!("it@{version}:{kind}"),
        };
        let (ours, theirs) = (text(&ours), text(&theirs));
        let (ours, theirs) = (parsed(&ours), (ours, parsed(&theirs)));
        prop_assert_eq!(&ours.to_string(), &theirs.0);
        prop_assert!(ours.differences(&ours).is_empty());
        let theirs = theirs.1;
        prop_assert_eq!(ours.differences(&theirs).is_empty(), ours.fingerprint() == theirs.fingerprint());
        prop_assert_eq!(ours.differences(&theirs).len(), theirs.differences(&ours).len());
    }

    /// What was made for many messages says of any bytes what a search for a bad value says.
    #[test]
    fn checker_agrees_with_a_search(kind in any_kind(), seed in any::<u64>()) {
        let schema = kept(parsed(&kind));
        let checker = Checker::new(schema);
        let mut mix = seed;
        for round in 0..40 {
            // Small numbers above all, which are what is good.
            let bytes: Vec<u8> = (0..schema.size()).map(|_| {
                mix = mix.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                let byte = (mix >> 33) as u8;
                if round == 0 { 0 } else if byte % 8 < round % 9 { byte } else { byte & 1 }
            }).collect();
            let is_good = BadValue::find(schema, &bytes).is_none();
            prop_assert_eq!(checker.is_message(&bytes), is_good, "{} {:?}", &kind, &bytes);
            prop_assert!(is_good || !checker.any_bytes_are_messages());
        }
    }

    /// Any text is a schema or an error, which names a place in it.
    #[test]
    fn text_of_any_kind_is_parsed_or_refused(text in "[a-z0-9_{}\\[\\]():;,=?@\"\\\\ \n-]{0,60}", begin in select(["", "q{", "q{a:enum u8{", "[", "q{a:u8\""].to_vec())) {
        let text = begin.to_string() + &text;
        match text.parse::<Schema>() {
            Ok(schema) => prop_assert_eq!(parsed(&schema.to_string()), schema),
            Err(error) => prop_assert!(text.is_char_boundary(error.at), "{}", error),
        }
    }
}
