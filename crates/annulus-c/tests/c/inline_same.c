/* The inline functions do what the library's own do: the same calls on two rings, in the same order, leave the same
 * words in both, and return the same. One of the two is used through views, which are ended and made anew. */
#include <annulus_inline.h>

#include "check.h"

enum { STEPS = 1000, MOST = 300 };

static uint64_t dice = 88172645463325252u;

static size_t below(size_t most) {
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (size_t)(dice >> 16) % most;
}

static void fill(unsigned char *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) {
        bytes[index] = (unsigned char)below(256);
    }
}

/* A queue of which one side or the other may have a view now. */
struct queue {
    annulus_producer *producer;
    annulus_consumer *consumer;
    annulus_spsc_producer out;
    annulus_spsc_consumer in;
    bool has_out, has_in;
};

static void change_views(struct queue *queue) {
    if (below(4) == 0) {
        WORKS(queue->has_out ? annulus_spsc_producer_end(&queue->out)
                             : annulus_spsc_producer_open(&queue->out, queue->producer));
        queue->has_out = !queue->has_out;
    }
    if (below(4) == 0) {
        WORKS(queue->has_in ? annulus_spsc_consumer_end(&queue->in)
                            : annulus_spsc_consumer_open(&queue->in, queue->consumer));
        queue->has_in = !queue->has_in;
    }
}

/* Sends up to `count` messages in one of four ways; returns how many. */
static size_t send_to(struct queue *queue, int way, const unsigned char *messages, size_t count, size_t size) {
    size_t stride = annulus_producer_stride(queue->producer), sent = 0;
    void *slots;
    if (way == 0) {
        annulus_status status = queue->has_out ? annulus_spsc_try_send(&queue->out, messages, size)
                                               : annulus_producer_try_send(queue->producer, messages, size);
        CHECK(status == ANNULUS_OK || status == ANNULUS_FULL);
        return status == ANNULUS_OK;
    }
    if (way == 3) {
        annulus_status status = queue->has_out
                                    ? annulus_spsc_try_send_batch(&queue->out, messages, count, size, &sent)
                                    : annulus_producer_try_send_batch(queue->producer, messages, count, size, &sent);
        CHECK(status == (sent > 0 ? ANNULUS_OK : ANNULUS_FULL));
        return sent;
    }
    annulus_status status = queue->has_out ? annulus_spsc_try_reserve(&queue->out, count, &slots, &sent)
                                           : annulus_producer_try_reserve(queue->producer, count, &slots, &sent);
    CHECK(status == (sent > 0 ? ANNULUS_OK : ANNULUS_FULL));
    if (sent > 0) {
        sent -= way == 1 && sent > 1;
        for (size_t index = 0; index < sent; index++) {
            memcpy((char *)slots + index * stride, messages + index * size, size);
        }
        WORKS(queue->has_out ? annulus_spsc_commit(&queue->out, sent) : annulus_producer_commit(queue->producer, sent));
    }
    return sent;
}

static size_t receive(struct queue *queue, int way, unsigned char *messages, size_t count, size_t size) {
    size_t stride = annulus_consumer_stride(queue->consumer), there = 0;
    const void *first;
    if (way == 0) {
        annulus_status status = queue->has_in ? annulus_spsc_try_recv(&queue->in, messages, size)
                                              : annulus_consumer_try_recv(queue->consumer, messages, size);
        CHECK(status == ANNULUS_OK || status == ANNULUS_EMPTY);
        return status == ANNULUS_OK;
    }
    if (way == 3) {
        annulus_status status = queue->has_in
                                    ? annulus_spsc_try_recv_batch(&queue->in, messages, count, size, &there)
                                    : annulus_consumer_try_recv_batch(queue->consumer, messages, count, size, &there);
        CHECK(status == (there > 0 ? ANNULUS_OK : ANNULUS_EMPTY));
        return there;
    }
    annulus_status status = queue->has_in ? annulus_spsc_readable(&queue->in, 0, &first, &there)
                                          : annulus_consumer_readable(queue->consumer, 0, &first, &there);
    CHECK(status == (there > 0 ? ANNULUS_OK : ANNULUS_EMPTY));
    there = there < count ? there : count;
    for (size_t index = 0; index < there; index++) {
        memcpy(messages + index * size, (const char *)first + index * stride, size);
    }
    WORKS(queue->has_in ? annulus_spsc_advance(&queue->in, there) : annulus_consumer_advance(queue->consumer, there));
    return there;
}

/* What was sent comes out, in order, whichever way it goes in and out. */
static void queues(size_t capacity, size_t size) {
    annulus_options options = ANNULUS_OPTIONS(capacity, size);
    options.flags = capacity % 2 ? ANNULUS_STATISTICS : 0; /* measures single messages, and looks at them by itself */
    struct queue queue;
    memset(&queue, 0, sizeof queue);
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &queue.producer, &queue.consumer));
    static unsigned char sent[64 * MOST], received[64 * MOST], expected[64 * MOST];
    size_t waiting = 0;
    for (int step = 0; step < STEPS; step++) {
        change_views(&queue);
        size_t count = 1 + below(capacity + 2);
        fill(sent, count * size);
        int way = (int)below(4);
        size_t more = send_to(&queue, way, sent, count, size);
        CHECK(more <= count && waiting + more <= capacity && (more > 0 || waiting == capacity));
        /* A batch is all that there is room for. */
        CHECK(way != 3 || more == (count < capacity - waiting ? count : capacity - waiting));
        memcpy(expected + waiting * size, sent, more * size);
        waiting += more;
        CHECK(annulus_producer_len(queue.producer) == waiting && annulus_consumer_len(queue.consumer) == waiting);

        change_views(&queue);
        count = 1 + below(capacity + 2);
        way = (int)below(4);
        size_t taken = receive(&queue, way, received, count, size);
        CHECK(taken <= count && taken <= waiting && (taken > 0 || waiting == 0));
        CHECK(way != 3 || taken == (count < waiting ? count : waiting));
        CHECK(memcmp(received, expected, taken * size) == 0);
        waiting -= taken;
        memmove(expected, expected + taken * size, waiting * size);
    }
    WORKS(annulus_spsc_producer_end(&queue.out));
    WORKS(annulus_spsc_consumer_end(&queue.in));
    WORKS(annulus_producer_free(queue.producer));
    WORKS(annulus_consumer_free(queue.consumer));
}

/* A ring, and its reader. */
struct ring {
    annulus_publisher *publisher;
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber;
};

static struct ring new_ring(size_t capacity, size_t size) {
    annulus_options options = ANNULUS_OPTIONS(capacity, size);
    struct ring ring;
    WORKS(annulus_broadcast_new(ANNULUS_LOSSY, &options, &ring.publisher, &ring.subscribable));
    WORKS(annulus_subscribable_subscribe(ring.subscribable, false, &ring.subscriber));
    return ring;
}

static void free_ring(struct ring ring) {
    WORKS(annulus_subscriber_free(ring.subscriber));
    WORKS(annulus_subscribable_free(ring.subscribable));
    WORKS(annulus_publisher_free(ring.publisher));
}

/* The same calls on two rings: by the library, and inline. Stamps and words are the same, and so is what a
 * subscriber receives and loses. */
static void rings(size_t capacity, size_t size) {
    struct ring by_library = new_ring(capacity, size), inlined = new_ring(capacity, size);
    annulus_lossy_publisher out, other;
    annulus_lossy_subscriber in;
    WORKS(annulus_lossy_publisher_open(&out, inlined.publisher));
    WORKS(annulus_lossy_subscriber_open(&in, inlined.subscriber));
    unsigned char message[MOST], first[MOST], second[MOST];
    for (int step = 0; step < STEPS; step++) {
        for (size_t count = below(step % 50 == 0 ? 2 * capacity : 4); count > 0; count--) {
            fill(message, size);
            WORKS(annulus_publisher_publish(by_library.publisher, message, size));
            WORKS(annulus_lossy_publish(&out, message, size));
        }
        WORKS(annulus_lossy_publisher_open(&other, by_library.publisher));
        CHECK(out.next == other.next && out.slot - out.begin == other.slot - other.begin);
        CHECK(*out.bound == *other.bound && *out.slow_mask == *other.slow_mask);
        CHECK(out.stride == other.stride && out.stop - out.begin == (ptrdiff_t)(capacity * out.stride));
        CHECK(memcmp(out.begin, other.begin, 8 * capacity * out.stride) == 0);
        WORKS(annulus_lossy_publisher_end(&other));

        for (size_t count = below(4); count > 0; count--) {
            annulus_status status = annulus_subscriber_try_recv(by_library.subscriber, first, size);
            RETURNS(status, annulus_lossy_try_recv(&in, second, size));
            CHECK(status == ANNULUS_OK ? memcmp(first, second, size) == 0 : status == ANNULUS_EMPTY);
        }
        CHECK(annulus_subscriber_lagged(by_library.subscriber) == annulus_subscriber_lagged(inlined.subscriber));
        if (below(8) == 0) {
            WORKS(annulus_lossy_subscriber_end(&in));
            CHECK(annulus_subscriber_received(by_library.subscriber)
                  == annulus_subscriber_received(inlined.subscriber));
            CHECK(annulus_subscriber_len(by_library.subscriber) == annulus_subscriber_len(inlined.subscriber));
            WORKS(annulus_lossy_subscriber_open(&in, inlined.subscriber));
        }
        if (below(8) == 0) {
            WORKS(annulus_lossy_publisher_end(&out));
            WORKS(annulus_lossy_publisher_open(&out, inlined.publisher));
        }
    }
    /* The end is the same, too. */
    WORKS(annulus_publisher_close(by_library.publisher));
    WORKS(annulus_publisher_close(inlined.publisher));
    RETURNS(ANNULUS_CLOSED, annulus_publisher_publish(by_library.publisher, message, size));
    RETURNS(ANNULUS_CLOSED, annulus_lossy_publish(&out, message, size));
    annulus_status status = ANNULUS_OK;
    while (status == ANNULUS_OK) {
        status = annulus_subscriber_try_recv(by_library.subscriber, first, size);
        RETURNS(status, annulus_lossy_try_recv(&in, second, size));
    }
    CHECK(status == ANNULUS_CLOSED);
    WORKS(annulus_lossy_publisher_end(&out));
    WORKS(annulus_lossy_subscriber_end(&in));
    free_ring(by_library);
    free_ring(inlined);
}

int main(void) {
    const size_t capacities[] = {1, 2, 3, 8, 60}, sizes[] = {1, 8, 12, 24, 60};
    for (size_t capacity = 0; capacity < sizeof capacities / sizeof *capacities; capacity++) {
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
            queues(capacities[capacity], sizes[size]);
        }
    }
    /* The last two are copied by the library. */
    const size_t messages[] = {1, 8, 20, 64, 128, 250, 300};
    for (size_t size = 0; size < sizeof messages / sizeof *messages; size++) {
        rings(2, messages[size]);
        rings(21, messages[size]);
        rings(64, messages[size]);
    }
    return 0;
}
