/* One thread sends and receives through views: a receive calls the library once a lap, not for each message. */
#include <annulus.h>

static unsigned looks;

static annulus_status counted_look(annulus_spsc_consumer *view, uint64_t timeout_ns) {
    looks++;
    return annulus_consumer_view_look(view, timeout_ns);
}

#define annulus_consumer_view_look counted_look
#include <annulus_inline.h>

#include "check.h"

enum { CAPACITY = 64, LAPS = 50 };

int main(void) {
    annulus_options options = ANNULUS_OPTIONS(CAPACITY, sizeof(uint64_t));
    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &consumer));
    annulus_spsc_producer out;
    annulus_spsc_consumer in;
    WORKS(annulus_spsc_producer_open(&out, producer));
    WORKS(annulus_spsc_consumer_open(&in, consumer));
    uint64_t sent = 0, received = 0, message = 0;
    while (sent < CAPACITY * LAPS) {
        /* One, or some at once, that may lie on both sides of the end of the ring. */
        for (uint64_t more = sent % 7 == 0 ? 5 : 1; more > 0; more--) {
            WORKS(annulus_spsc_try_send(&out, &sent, sizeof sent));
            sent++;
        }
        while (received < sent) {
            WORKS(annulus_spsc_try_recv(&in, &message, sizeof message));
            CHECK(message == received);
            received++;
        }
        RETURNS(ANNULUS_EMPTY, annulus_spsc_try_recv(&in, &message, sizeof message));
    }
    CHECK(looks <= 2 * (LAPS + 2));

    /* The handle goes on behind what only the view had seen. */
    WORKS(annulus_spsc_try_send(&out, &sent, sizeof sent));
    WORKS(annulus_spsc_try_recv(&in, &message, sizeof message));
    WORKS(annulus_spsc_consumer_end(&in));
    RETURNS(ANNULUS_EMPTY, annulus_consumer_try_recv(consumer, &message, sizeof message));
    CHECK(annulus_consumer_len(consumer) == 0);
    WORKS(annulus_spsc_consumer_open(&in, consumer));

    /* What was sent before the close is received after it. */
    WORKS(annulus_spsc_try_send(&out, &sent, sizeof sent));
    WORKS(annulus_spsc_producer_end(&out));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_spsc_recv(&in, &message, sizeof message));
    RETURNS(ANNULUS_CLOSED, annulus_spsc_try_recv(&in, &message, sizeof message));
    WORKS(annulus_spsc_consumer_end(&in));
    WORKS(annulus_consumer_free(consumer));
    return 0;
}
