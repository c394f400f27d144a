//! The text of a schema, as another process may have written it.

use annulus::schema::Schema;

/// A text is a schema or an error that names a place in it. What a schema is written as is that schema again,
/// in one way.
pub fn schema(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let schema = match text.parse::<Schema>() {
        Ok(schema) => schema,
        Err(error) => return assert!(text.is_char_boundary(error.at), "{error}"),
    };
    let written = schema.to_string();
    let again: Schema = written.parse().unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!((&again, again.to_string()), (&schema, written));
    assert!(again.differences(&schema).is_empty() && again.fingerprint() == schema.fingerprint());
}
