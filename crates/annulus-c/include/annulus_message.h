/* A message for rings between processes, and its schema, from one list of its fields (gcc and clang, C11 and C++20):
 *
 *     #define SIDE(VARIANT, of) VARIANT(of, buy, 0) VARIANT(of, sell, 1)
 *     #define TICK(FIELD)             \
 *         FIELD(u64, number)          \
 *         FIELD(array(f64, 2), best)  \
 *         FIELD(text(5), symbol)      \
 *         FIELD(enum(u8, SIDE), side)
 *     ANNULUS_ENUM(side, SIDE);
 *     ANNULUS_MESSAGE(tick, TICK);
 *
 * They are
 *
 *     enum { side_buy = 0, side_sell = 1 };
 *     struct tick {
 *         uint64_t number;
 *         double best[2];
 *         struct { unsigned char size[2]; char bytes[5]; } symbol;
 *         uint8_t side;
 *     };
 *
 * and ANNULUS_SCHEMA(tick, TICK) is "tick{number:u64,best:[f64;2],symbol:text 5,side:enum u8{buy=0,sell=1,},}", which a ring is made and
 * joined with: ANNULUS_SHARED_OPTIONS(1024, struct tick, ANNULUS_SCHEMA(tick, TICK)). docs/SCHEMA.md has the grammar.
 *
 * A field is of u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bool (a byte, 0 or 1), char (the number of a character, a uint32_t),
 * nonzero(u32) and its like, text(BYTES), enum(INTEGER, VARIANTS); or array(KIND, COUNT) of any of these but a text.
 *
 * A message has no padding; with it this does not compile, so each field lies where the schema says. Put larger fields first, or fill a gap by a
 * field such as FIELD(array(u8, 3), _gap).
 *
 * A receive checks what another process has written: an enum has a number of its list, and a text is UTF-8 (ANNULUS_CORRUPT).
 */
#ifndef ANNULUS_MESSAGE_H
#define ANNULUS_MESSAGE_H

#include <annulus.h>
#include <string.h>

/* The struct `name` of these fields. */
#define ANNULUS_MESSAGE(name, FIELDS)                                                                 \
    struct name {                                                                                     \
        FIELDS(ANNULUS_FIELD_)                                                                        \
    };                                                                                                \
    ANNULUS_HOLDS_(sizeof(struct name) == 0 FIELDS(ANNULUS_PLUS_),                                    \
                   #name " has padding: put larger fields first, or fill the gap by a field")

/* Its schema: a constant text. */
#define ANNULUS_SCHEMA(name, FIELDS) #name "{" FIELDS(ANNULUS_NAMED_) "}"

/* The constants of an enum: `name`, `_`, and the variant. */
#define ANNULUS_ENUM(name, VARIANTS) enum { VARIANTS(ANNULUS_CONSTANT_, name) }

/* An empty text, among the values of a struct. */
#define ANNULUS_TEXT_EMPTY {{0, 0}, {0}}
/* Writes a text: the bytes of the string `from`, which have to be UTF-8. False, and no change, if it has more than there is space for. */
#define annulus_text_set(text, from) annulus_text_set_((text)->size, (text)->bytes, sizeof((text)->bytes), from)
/* How many bytes a text has. They lie at `bytes`, and no zero follows. */
#define annulus_text_size(text) annulus_text_size_((text)->size)
/* Whether a text is this string. */
#define annulus_text_is(text, string) annulus_text_is_((text)->size, (text)->bytes, sizeof((text)->bytes), string)

#ifdef __cplusplus
#define ANNULUS_HOLDS_(holds, what) static_assert(holds, what)
#else
#define ANNULUS_HOLDS_(holds, what) _Static_assert(holds, what)
#endif

#define ANNULUS_FIELD_(kind, name) ANNULUS_TYPE_##kind name;
#define ANNULUS_PLUS_(kind, name) +ANNULUS_BYTES_##kind
#define ANNULUS_NAMED_(kind, name) #name ":" ANNULUS_KIND_##kind ","
#define ANNULUS_CONSTANT_(of, name, number) of##_##name = number,
#define ANNULUS_VARIANT_(of, name, number) #name "=" #number ","

/* What a field is in C. */
#define ANNULUS_TYPE_u8 uint8_t
#define ANNULUS_TYPE_u16 uint16_t
#define ANNULUS_TYPE_u32 uint32_t
#define ANNULUS_TYPE_u64 uint64_t
#define ANNULUS_TYPE_i8 int8_t
#define ANNULUS_TYPE_i16 int16_t
#define ANNULUS_TYPE_i32 int32_t
#define ANNULUS_TYPE_i64 int64_t
#define ANNULUS_TYPE_f32 float
#define ANNULUS_TYPE_f64 double
#define ANNULUS_TYPE_bool bool
#define ANNULUS_TYPE_char uint32_t
#define ANNULUS_TYPE_nonzero(integer) ANNULUS_TYPE_##integer
#define ANNULUS_TYPE_enum(integer, VARIANTS) ANNULUS_TYPE_##integer
#define ANNULUS_TYPE_array(kind, count) __typeof__(ANNULUS_TYPE_##kind[count])
#define ANNULUS_TYPE_text(space) struct { unsigned char size[2]; char bytes[space]; }

/* How many bytes it has. */
#define ANNULUS_BYTES_u8 1
#define ANNULUS_BYTES_u16 2
#define ANNULUS_BYTES_u32 4
#define ANNULUS_BYTES_u64 8
#define ANNULUS_BYTES_i8 1
#define ANNULUS_BYTES_i16 2
#define ANNULUS_BYTES_i32 4
#define ANNULUS_BYTES_i64 8
#define ANNULUS_BYTES_f32 4
#define ANNULUS_BYTES_f64 8
#define ANNULUS_BYTES_bool 1
#define ANNULUS_BYTES_char 4
#define ANNULUS_BYTES_nonzero(integer) ANNULUS_BYTES_##integer
#define ANNULUS_BYTES_enum(integer, VARIANTS) ANNULUS_BYTES_##integer
#define ANNULUS_BYTES_array(kind, count) ANNULUS_BYTES_##kind * (count)
#define ANNULUS_BYTES_text(space) 2 + (space)

/* What it is in a schema. */
#define ANNULUS_KIND_u8 "u8"
#define ANNULUS_KIND_u16 "u16"
#define ANNULUS_KIND_u32 "u32"
#define ANNULUS_KIND_u64 "u64"
#define ANNULUS_KIND_i8 "i8"
#define ANNULUS_KIND_i16 "i16"
#define ANNULUS_KIND_i32 "i32"
#define ANNULUS_KIND_i64 "i64"
#define ANNULUS_KIND_f32 "f32"
#define ANNULUS_KIND_f64 "f64"
#define ANNULUS_KIND_bool "bool"
#define ANNULUS_KIND_char "char"
#define ANNULUS_KIND_nonzero(integer) "nonzero " ANNULUS_KIND_##integer
#define ANNULUS_KIND_enum(integer, VARIANTS) "enum " ANNULUS_KIND_##integer "{" VARIANTS(ANNULUS_VARIANT_, ) "}"
#define ANNULUS_KIND_array(kind, count) "[" ANNULUS_KIND_##kind ";" ANNULUS_TEXT_(count) "]"
#define ANNULUS_KIND_text(space) "text " ANNULUS_TEXT_(space)

#ifdef __cplusplus
extern "C" {
#endif

static inline bool annulus_text_set_(unsigned char *size, char *bytes, size_t space, const char *from) {
    const size_t length = strlen(from);
    if (length > space || length > UINT16_MAX) {
        return false;
    }
    uint16_t number = 0;
    number |= length & 0xFFFF;
    memcpy(size, &number, sizeof number);
    memset(bytes, 0, space);
    memcpy(bytes, from, length);
    return true;
}

static inline size_t annulus_text_size_(const unsigned char *size) {
    uint16_t number;
    memcpy(&number, size, sizeof number);
    return number;
}

static inline bool annulus_text_is_(const unsigned char *size, const char *bytes, size_t space, const char *string) {
    const size_t length = annulus_text_size_(size);
    return length <= space && length == strlen(string) && memcmp(bytes, string, length) == 0;
}

#ifdef __cplusplus
}
#endif

#endif
