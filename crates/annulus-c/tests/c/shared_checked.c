/* What another process writes that is no message: each receive says so, counts it, and goes on behind it. Both sides are this process. The
   other one joins without a schema, so nothing keeps it from writing any bytes. */
#include <annulus_message.h>

#include "check.h"

#define SIDE(VARIANT, of) VARIANT(of, buy, 0) VARIANT(of, sell, 1)
#define ORDER(FIELD)            \
    FIELD(u32, number)          \
    FIELD(enum(u8, SIDE), side) \
    FIELD(bool, live)           \
    FIELD(text(4), symbol)
ANNULUS_ENUM(side, SIDE);
ANNULUS_MESSAGE(order, ORDER);

enum { CAPACITY = 1024 };

static const annulus_shared_options OPTIONS = ANNULUS_SHARED_OPTIONS(CAPACITY, struct order, ANNULUS_SCHEMA(order, ORDER));
static const annulus_shared_options ANY_BYTES = ANNULUS_SHARED_OPTIONS(CAPACITY, struct order, NULL);

/* Number so many of those that are written: a good one, with another byte at `at`. */
static void fill(unsigned char *bytes, size_t at, unsigned char byte) {
    struct order order = {1, side_sell, true, ANNULUS_TEXT_EMPTY};
    CHECK(annulus_text_set(&order.symbol, "EUR") && !annulus_text_set(&order.symbol, "EURUSD"));
    CHECK(annulus_text_size(&order.symbol) == 3 && annulus_text_is(&order.symbol, "EUR"));
    memcpy(bytes, &order, sizeof order);
    bytes[at] = byte;
}

/* Of the 256 values of each byte, how many are one. */
static size_t good_of(size_t at) {
    switch (at) {
    case offsetof(struct order, side):
    case offsetof(struct order, live):
        return 2;
    case offsetof(struct order, symbol): /* the lower byte of the size, which is at most 4 */
        return 5;
    case offsetof(struct order, symbol) + 1: /* the upper one */
        return 1;
    default: /* of the three letters 128 are UTF-8 by themselves; what is behind them means nothing */
        return at >= sizeof(struct order) - 1 || at < 4 ? 256 : 128;
    }
}

static void queue(void) {
    annulus_consumer *consumer;
    annulus_producer *producer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_consumer_new(&OPTIONS, &consumer, &invitation, NULL));
    WORKS(annulus_invitation_producer(invitation, &ANY_BYTES, &producer, NULL));
    uint64_t corrupt = 0;
    unsigned char bytes[sizeof(struct order)];
    struct order order, orders[300];
    for (size_t at = 0; at < sizeof order; at++) {
        for (int byte = 0; byte < 256; byte++) {
            fill(bytes, at, (unsigned char)byte);
            WORKS(annulus_producer_send(producer, bytes, sizeof bytes));
        }
        size_t good = 0;
        for (int number = 0; number < 256; number++) {
            annulus_status status = number % 2 == 0 ? annulus_consumer_recv(consumer, &order, sizeof order)
                                                    : annulus_consumer_try_recv(consumer, &order, sizeof order);
            CHECK(status == ANNULUS_OK || status == ANNULUS_CORRUPT);
            good += status == ANNULUS_OK;
            CHECK(status != ANNULUS_OK || (order.side <= side_sell && annulus_text_size(&order.symbol) <= 4));
        }
        CHECK(good == good_of(at));
        corrupt += 256 - good;
        CHECK(annulus_consumer_corrupt(consumer) == corrupt);
    }
    RETURNS(ANNULUS_EMPTY, annulus_consumer_try_recv(consumer, &order, sizeof order));

    /* A batch has those that are messages; without any it is the status. */
    const size_t live = offsetof(struct order, live);
    for (int byte = 0; byte < 9; byte++) {
        fill(bytes, byte % 3 == 0 ? live : 0, 7);
        WORKS(annulus_producer_send(producer, bytes, sizeof bytes));
    }
    size_t received;
    WORKS(annulus_consumer_try_recv_batch(consumer, orders, 300, sizeof order, &received));
    CHECK(received == 6 && annulus_consumer_corrupt(consumer) == corrupt + 3);
    for (size_t number = 0; number < received; number++) {
        CHECK(orders[number].number % 256 == 7 && orders[number].live);
    }
    fill(bytes, live, 7);
    WORKS(annulus_producer_send(producer, bytes, sizeof bytes));
    RETURNS(ANNULUS_CORRUPT, annulus_consumer_try_recv_batch(consumer, orders, 300, sizeof order, &received));
    CHECK(received == 0 && annulus_consumer_corrupt(consumer) == corrupt + 4);

    /* Nor is one shown where the other process can still write to it. */
    const void *shown;
    RETURNS(ANNULUS_UNSUPPORTED, annulus_consumer_readable(consumer, 0, &shown, &received));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_consumer_free(consumer));
    WORKS(annulus_invitation_free(invitation));
}

static void broadcast(void) {
    annulus_publisher *publisher, *another;
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber, *unchecked;
    annulus_invitation *invitation;
    WORKS(annulus_shared_publisher_new(ANNULUS_MP_LOSSY, &OPTIONS, &publisher, &invitation, NULL));
    WORKS(annulus_invitation_publisher(invitation, &ANY_BYTES, &another, NULL));
    WORKS(annulus_invitation_subscribable(invitation, &OPTIONS, &subscribable, NULL));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
    WORKS(annulus_subscribable_free(subscribable));
    WORKS(annulus_invitation_subscribable(invitation, &ANY_BYTES, &subscribable, NULL));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &unchecked));
    unsigned char bytes[sizeof(struct order)];
    struct order order;
    for (int byte = 0; byte < 256; byte++) {
        fill(bytes, offsetof(struct order, side), (unsigned char)byte);
        WORKS(annulus_publisher_publish(byte < 2 ? publisher : another, bytes, sizeof bytes));
        annulus_status status = annulus_subscriber_recv(subscriber, &order, sizeof order);
        CHECK(status == (byte < 2 ? ANNULUS_OK : ANNULUS_CORRUPT));
        WORKS(annulus_subscriber_recv(unchecked, bytes, sizeof bytes)); /* asked for bytes */
    }
    CHECK(annulus_subscriber_received(subscriber) == 2 && annulus_subscriber_corrupt(subscriber) == 254);
    CHECK(annulus_subscriber_received(unchecked) == 256 && annulus_subscriber_corrupt(unchecked) == 0);
    CHECK(annulus_subscriber_corrupt(NULL) == 0 && annulus_consumer_corrupt(NULL) == 0);
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscriber_free(unchecked));
    WORKS(annulus_subscribable_free(subscribable));
    WORKS(annulus_publisher_free(publisher));
    WORKS(annulus_publisher_free(another));
    WORKS(annulus_invitation_free(invitation));
}

int main(void) {
    queue();
    broadcast();
    return 0;
}
