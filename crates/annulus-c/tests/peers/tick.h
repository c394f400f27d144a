/* The message that the languages send each other, as C and C++ have it. */
#ifndef TICK_H
#define TICK_H

#include <annulus_message.h>

#include "check.h"

#define SIDE(VARIANT, of) VARIANT(of, buy, 0) VARIANT(of, sell, 1)
#define TICK(FIELD)             \
    FIELD(u64, number)          \
    FIELD(u64, check)           \
    FIELD(text(4), name)        \
    FIELD(enum(u8, SIDE), side) \
    FIELD(bool, live)
ANNULUS_ENUM(side, SIDE);
ANNULUS_MESSAGE(tick, TICK);

static const char *const NAMES[] = {"", "EUR", "\xC3\x9F\xC3\x9F"};

static inline uint64_t mixed(uint64_t number) {
    return number * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

static inline struct tick tick_of(uint64_t number) {
    struct tick tick;
    memset(&tick, 0, sizeof tick);
    tick.number = number;
    tick.check = mixed(number);
    CHECK(annulus_text_set(&tick.name, NAMES[number % 3]));
    tick.side = number % 2 == 0 ? side_buy : side_sell;
    tick.live = number % 5 == 0;
    return tick;
}

/* That it is this one, as it was sent. */
static inline void is_tick(const struct tick *tick, uint64_t number) {
    CHECK(tick->number == number && tick->check == mixed(number));
    CHECK(tick->side == (number % 2 == 0 ? side_buy : side_sell) && tick->live == (number % 5 == 0));
    CHECK(annulus_text_is(&tick->name, NAMES[number % 3]));
}

#endif
