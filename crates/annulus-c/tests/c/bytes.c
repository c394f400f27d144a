/* Records of any length: copied and in place, in buffers that are too small, lost and counted, woken and closed. */
#include <annulus.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { RECORDS = 5000, CAPACITY = 300, LONGEST = CAPACITY / 2 };

/* Of each length that there can be. */
static size_t length_of(int number) {
    return (size_t)number * 37 % (LONGEST + 1);
}

static void fill(unsigned char *bytes, int number) {
    for (size_t at = 0; at < length_of(number); at++) {
        bytes[at] = (unsigned char)((size_t)number + at);
    }
}

static void is_record(const unsigned char *bytes, size_t length, int number) {
    CHECK(length == length_of(number));
    for (size_t at = 0; at < length; at++) {
        CHECK(bytes[at] == (unsigned char)((size_t)number + at));
    }
}

static void *produce(void *argument) {
    annulus_bytes_producer *producer = (annulus_bytes_producer *)argument;
    unsigned char record[LONGEST];
    for (int number = 0; number < RECORDS; number++) {
        void *bytes;
        switch (number % 3) {
        case 0:
            fill(record, number);
            WORKS(annulus_bytes_producer_send(producer, record, length_of(number)));
            break;
        case 1:
            /* More than is sent. */
            WORKS(annulus_bytes_producer_reserve(producer, LONGEST, ANNULUS_FOREVER, &bytes));
            CHECK((uintptr_t)bytes % 8 == 0);
            fill((unsigned char *)bytes, number);
            RETURNS(ANNULUS_RESERVED, annulus_bytes_producer_try_send(producer, record, 1));
            RETURNS(ANNULUS_RESERVED, annulus_bytes_producer_try_reserve(producer, 1, &bytes));
            RETURNS(ANNULUS_INVALID, annulus_bytes_producer_commit(producer, LONGEST + 1));
            WORKS(annulus_bytes_producer_commit(producer, length_of(number)));
            RETURNS(ANNULUS_INVALID, annulus_bytes_producer_commit(producer, 0));
            break;
        default:
            /* What is cancelled is not sent. */
            WORKS(annulus_bytes_producer_reserve(producer, 5, ANNULUS_FOREVER, &bytes));
            memset(bytes, 0xEE, 5);
            WORKS(annulus_bytes_producer_cancel(producer));
            RETURNS(ANNULUS_INVALID, annulus_bytes_producer_cancel(producer));
            fill(record, number);
            WORKS(annulus_bytes_producer_send_timeout(producer, record, length_of(number), ANNULUS_FOREVER));
        }
    }
    WORKS(annulus_bytes_producer_free(producer));
    return NULL;
}

static void queue(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(CAPACITY);
    annulus_bytes_producer *producer;
    annulus_bytes_consumer *consumer;
    WORKS(annulus_bytes_queue_new(&options, &producer, &consumer));
    CHECK(annulus_bytes_producer_capacity(producer) == CAPACITY && annulus_bytes_consumer_capacity(consumer) == CAPACITY);
    CHECK(annulus_bytes_producer_max_len(producer) == LONGEST && annulus_bytes_consumer_max_len(consumer) == LONGEST);
    pthread_t thread;
    SPAWN(&thread, produce, producer);

    unsigned char buffer[LONGEST];
    const void *record;
    size_t length;
    annulus_status status = ANNULUS_OK;
    for (int number = 0; number < RECORDS; number++) {
        switch (number % 4) {
        case 0:
            WORKS(annulus_bytes_consumer_recv(consumer, buffer, sizeof buffer, &length));
            is_record(buffer, length, number);
            break;
        case 1:
            WORKS(annulus_bytes_consumer_readable(consumer, ANNULUS_FOREVER, &record, &length));
            CHECK((uintptr_t)record % 8 == 0);
            is_record((const unsigned char *)record, length, number);
            WORKS(annulus_bytes_consumer_advance(consumer));
            RETURNS(ANNULUS_INVALID, annulus_bytes_consumer_advance(consumer));
            break;
        case 2:
            /* What was shown is received, and not taken twice. */
            WORKS(annulus_bytes_consumer_readable(consumer, ANNULUS_FOREVER, &record, &length));
            WORKS(annulus_bytes_consumer_try_recv(consumer, buffer, sizeof buffer, &length));
            is_record(buffer, length, number);
            RETURNS(ANNULUS_INVALID, annulus_bytes_consumer_advance(consumer));
            break;
        default:
            /* A buffer that is one byte too small says so, and loses nothing. */
            status = annulus_bytes_consumer_recv_timeout(consumer, NULL, 0, &length, ANNULUS_FOREVER);
            CHECK(status == (length_of(number) == 0 ? ANNULUS_OK : ANNULUS_TOO_SMALL) && length == length_of(number));
            if (status == ANNULUS_TOO_SMALL) {
                buffer[0] = 0x77;
                RETURNS(ANNULUS_TOO_SMALL, annulus_bytes_consumer_recv(consumer, buffer, length - 1, &length));
                CHECK(buffer[0] == 0x77 && length == length_of(number));
                WORKS(annulus_bytes_consumer_recv(consumer, buffer, length, &length));
                is_record(buffer, length, number);
            }
        }
    }
    RETURNS(ANNULUS_CLOSED, annulus_bytes_consumer_recv(consumer, buffer, sizeof buffer, &length));
    CHECK(length == 0 && annulus_bytes_consumer_is_empty(consumer) && annulus_bytes_consumer_is_closed(consumer));
    RETURNS(ANNULUS_CLOSED, annulus_bytes_consumer_readable(consumer, 0, &record, &length));
    CHECK(record == NULL && length == 0);
    JOIN(thread);
    WORKS(annulus_bytes_consumer_free(consumer));
}

static void statuses(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(64);
    annulus_bytes_producer *producer;
    annulus_bytes_consumer *consumer;
    unsigned char bytes[33] = {7};
    void *slots;
    size_t length = 5;
    options.message_size = 8;
    RETURNS(ANNULUS_WRONG_SIZE, annulus_bytes_queue_new(&options, &producer, &consumer));
    CHECK(producer == NULL && consumer == NULL);
    options.message_size = 1;
    options.capacity = 1;
    RETURNS(ANNULUS_INVALID, annulus_bytes_queue_new(&options, &producer, &consumer));
    options.capacity = 64;
    options.flags = ANNULUS_STATISTICS;
    WORKS(annulus_bytes_queue_new(&options, &producer, &consumer));

    RETURNS(ANNULUS_EMPTY, annulus_bytes_consumer_try_recv(consumer, bytes, sizeof bytes, &length));
    CHECK(length == 0);
    RETURNS(ANNULUS_TIMEOUT, annulus_bytes_consumer_recv_timeout(consumer, bytes, sizeof bytes, &length, 1000));
    RETURNS(ANNULUS_INVALID, annulus_bytes_consumer_try_recv(consumer, NULL, 1, &length));
    RETURNS(ANNULUS_INVALID, annulus_bytes_consumer_try_recv(consumer, bytes, 1, NULL));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_bytes_producer_send(producer, bytes, 33));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_bytes_producer_try_reserve(producer, SIZE_MAX, &slots));
    CHECK(slots == NULL);
    RETURNS(ANNULUS_INVALID, annulus_bytes_producer_send(producer, NULL, 1));
    WORKS(annulus_bytes_producer_send(producer, bytes, 32));
    RETURNS(ANNULUS_FULL, annulus_bytes_producer_try_send(producer, bytes, 32));
    RETURNS(ANNULUS_TIMEOUT, annulus_bytes_producer_send_timeout(producer, bytes, 32, 1000));
    RETURNS(ANNULUS_TIMEOUT, annulus_bytes_producer_reserve(producer, 32, 1000, &slots));
    WORKS(annulus_bytes_producer_try_send(producer, NULL, 0));
    CHECK(!annulus_bytes_producer_is_empty(producer) && !annulus_bytes_consumer_is_empty(consumer));

    /* In words: two lengths, and 32 bytes. */
    annulus_stats stats;
    stats.size = sizeof stats;
    WORKS(annulus_bytes_consumer_stats(consumer, &stats));
    CHECK(stats.published == 6 && stats.pending == 6 && stats.received == 0 && stats.capacity >= 8);
    WORKS(annulus_bytes_consumer_try_recv(consumer, bytes, sizeof bytes, &length));
    CHECK(length == 32 && bytes[0] == 7);
    WORKS(annulus_bytes_consumer_try_recv(consumer, bytes, 0, &length));
    WORKS(annulus_bytes_producer_stats(producer, &stats));
    CHECK(length == 0 && stats.received == 6 && annulus_bytes_producer_is_empty(producer));
    annulus_peer peer;
    RETURNS(ANNULUS_UNSUPPORTED, annulus_bytes_producer_peer(producer, &peer));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_bytes_consumer_peer(consumer, &peer));

    /* What is reserved when the queue closes is not sent; what was sent is received. */
    annulus_closer *closer, *other;
    WORKS(annulus_bytes_producer_closer(producer, &closer));
    WORKS(annulus_bytes_consumer_closer(consumer, &other));
    WORKS(annulus_bytes_producer_send(producer, bytes, 3));
    WORKS(annulus_bytes_producer_try_reserve(producer, 4, &slots));
    WORKS(annulus_closer_close(closer));
    RETURNS(ANNULUS_CLOSED, annulus_bytes_producer_commit(producer, 4));
    RETURNS(ANNULUS_CLOSED, annulus_bytes_producer_send(producer, bytes, 3));
    CHECK(annulus_bytes_producer_is_closed(producer));
    WORKS(annulus_bytes_consumer_recv(consumer, bytes, sizeof bytes, &length));
    CHECK(length == 3);
    RETURNS(ANNULUS_CLOSED, annulus_bytes_consumer_recv(consumer, bytes, sizeof bytes, &length));
    WORKS(annulus_closer_free(closer));
    WORKS(annulus_closer_free(other));
    WORKS(annulus_bytes_producer_free(producer));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_bytes_producer_send(producer, bytes, 3));
    WORKS(annulus_bytes_consumer_free(consumer));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_bytes_consumer_free(consumer));
}

/* Whether the descriptor is readable now. */
static bool is_told(int fd) {
    struct pollfd poller = {fd, POLLIN, 0};
    return poll(&poller, 1, 0) == 1;
}

static void descriptors(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(64);
    annulus_bytes_producer *producer;
    annulus_bytes_consumer *consumer;
    annulus_bytes_publisher *publisher;
    annulus_bytes_subscribable *subscribable;
    annulus_bytes_subscriber *subscriber;
    WORKS(annulus_bytes_queue_new(&options, &producer, &consumer));
    WORKS(annulus_bytes_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, false, &subscriber));
    bool ready;
    RETURNS(ANNULUS_INVALID, annulus_bytes_consumer_arm(consumer, &ready));
    RETURNS(ANNULUS_INVALID, annulus_bytes_subscriber_arm(subscriber, &ready));
    int fd, other;
    size_t length;
    WORKS(annulus_bytes_consumer_fd(consumer, &fd));
    WORKS(annulus_bytes_subscriber_fd(subscriber, &other));
    WORKS(annulus_bytes_consumer_arm(consumer, &ready));
    CHECK(!ready && !is_told(fd));
    WORKS(annulus_bytes_subscriber_arm(subscriber, &ready));
    CHECK(!ready && !is_told(other));
    WORKS(annulus_bytes_producer_send(producer, "ab", 2));
    WORKS(annulus_bytes_publisher_publish(publisher, "ab", 2));
    CHECK(is_told(fd) && is_told(other));
    /* A record that did not fit is there still. */
    RETURNS(ANNULUS_TOO_SMALL, annulus_bytes_consumer_try_recv(consumer, NULL, 0, &length));
    RETURNS(ANNULUS_TOO_SMALL, annulus_bytes_subscriber_try_recv(subscriber, NULL, 0, &length));
    WORKS(annulus_bytes_consumer_arm(consumer, &ready));
    CHECK(ready);
    WORKS(annulus_bytes_subscriber_arm(subscriber, &ready));
    CHECK(ready && !is_told(other));
    WORKS(annulus_bytes_subscriber_free(subscriber));
    WORKS(annulus_bytes_subscribable_free(subscribable));
    WORKS(annulus_bytes_publisher_free(publisher));
    WORKS(annulus_bytes_consumer_free(consumer));
    WORKS(annulus_bytes_producer_free(producer));
}

static void broadcast(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(1000);
    annulus_bytes_publisher *publisher;
    annulus_bytes_subscribable *subscribable;
    annulus_bytes_subscriber *subscriber, *late;
    WORKS(annulus_bytes_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
    CHECK(annulus_bytes_publisher_capacity(publisher) == 1024 && annulus_bytes_publisher_max_len(publisher) == 512);
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, false, &subscriber));
    CHECK(annulus_bytes_subscriber_max_len(subscriber) == 512);
    unsigned char buffer[512], record[LONGEST];
    size_t length;
    RETURNS(ANNULUS_EMPTY, annulus_bytes_subscriber_try_recv(subscriber, buffer, sizeof buffer, &length));
    RETURNS(ANNULUS_TIMEOUT, annulus_bytes_subscriber_recv_timeout(subscriber, buffer, sizeof buffer, &length, 1000));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_bytes_publisher_publish(publisher, buffer, 513));
    RETURNS(ANNULUS_INVALID, annulus_bytes_publisher_publish(publisher, NULL, 1));
    WORKS(annulus_bytes_publisher_publish(publisher, NULL, 0));
    WORKS(annulus_bytes_subscriber_recv(subscriber, NULL, 0, &length));
    CHECK(length == 0 && annulus_bytes_subscriber_received(subscriber) == 1);

    /* A record that does not fit is kept for its subscriber, whatever the publisher overwrites. */
    fill(record, 1);
    WORKS(annulus_bytes_publisher_publish(publisher, record, length_of(1)));
    RETURNS(ANNULUS_TOO_SMALL, annulus_bytes_subscriber_recv(subscriber, buffer, 2, &length));
    CHECK(length == length_of(1) && annulus_bytes_subscriber_len(subscriber) == 1);
    CHECK(annulus_bytes_subscriber_received(subscriber) == 1);
    for (int number = 2; number < 100; number++) {
        fill(record, number);
        WORKS(annulus_bytes_publisher_publish(publisher, record, length_of(number)));
    }
    RETURNS(ANNULUS_TOO_SMALL, annulus_bytes_subscriber_try_recv(subscriber, buffer, length - 1, &length));
    WORKS(annulus_bytes_subscriber_try_recv(subscriber, buffer, length, &length));
    is_record(buffer, length, 1);
    CHECK(annulus_bytes_subscriber_lagged(subscriber) == 0 && annulus_bytes_subscriber_received(subscriber) == 2);

    /* Of the others the oldest are lost, and counted. */
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, true, &late));
    WORKS(annulus_bytes_publisher_close(publisher));
    RETURNS(ANNULUS_CLOSED, annulus_bytes_publisher_publish(publisher, record, 1));
    annulus_bytes_subscriber *both[] = {subscriber, late};
    for (int which = 0; which < 2; which++) {
        const uint64_t before = annulus_bytes_subscriber_received(both[which]);
        int next = 100 - (int)annulus_bytes_subscriber_len(both[which]);
        CHECK(next > 2 && next < 100 && annulus_bytes_subscriber_is_closed(both[which]));
        const int first = next;
        annulus_status status;
        while ((status = annulus_bytes_subscriber_try_recv(both[which], buffer, sizeof buffer, &length)) == ANNULUS_OK) {
            is_record(buffer, length, next++);
        }
        RETURNS(ANNULUS_CLOSED, status);
        CHECK(next == 100 && annulus_bytes_subscriber_received(both[which]) == before + (uint64_t)(next - first));
        CHECK(annulus_bytes_subscriber_lagged(both[which]) == (which == 0 ? (uint64_t)(first - 2) : 0));
    }
    annulus_stats stats;
    stats.size = sizeof stats;
    WORKS(annulus_bytes_subscriber_stats(subscriber, &stats));
    CHECK(stats.published == 100 && stats.capacity == 1024 / 32 && stats.closed);
    WORKS(annulus_bytes_publisher_stats(publisher, &stats));
    CHECK(stats.published == 100 && stats.readers == 2 && annulus_bytes_publisher_is_closed(publisher));
    annulus_closer *closer;
    WORKS(annulus_bytes_publisher_closer(publisher, &closer));
    WORKS(annulus_closer_free(closer));
    WORKS(annulus_bytes_subscriber_free(subscriber));
    WORKS(annulus_bytes_subscriber_free(late));
    WORKS(annulus_bytes_subscribable_free(subscribable));
    WORKS(annulus_bytes_publisher_free(publisher));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_bytes_publisher_free(publisher));
}

/* Nothing is lost: the publisher is refused, gives up in time, or waits, until the slowest has received. */
static void lossless(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(1024);
    annulus_bytes_publisher *publisher;
    annulus_bytes_subscribable *subscribable;
    annulus_bytes_subscriber *subscriber, *slow;
    RETURNS(ANNULUS_INVALID, annulus_bytes_broadcast_new(ANNULUS_MP_LOSSLESS, &options, &publisher, &subscribable));
    CHECK(publisher == NULL && subscribable == NULL);
    WORKS(annulus_bytes_broadcast_new(ANNULUS_LOSSLESS, &options, &publisher, &subscribable));
    CHECK(annulus_bytes_publisher_capacity(publisher) == 1024 && annulus_bytes_publisher_max_len(publisher) == 512);
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, false, &subscriber));
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, false, &slow));
    unsigned char buffer[512], record[LONGEST];
    size_t length;
    RETURNS(ANNULUS_WRONG_SIZE, annulus_bytes_publisher_try_publish(publisher, buffer, 513));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_bytes_publisher_publish_timeout(publisher, buffer, 513, 1000));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_bytes_publisher_publish(publisher, buffer, 513));
    RETURNS(ANNULUS_INVALID, annulus_bytes_publisher_try_publish(publisher, NULL, 1));
    int sent = 0;
    for (annulus_status status = ANNULUS_OK; status == ANNULUS_OK; sent++) {
        fill(record, sent);
        status = annulus_bytes_publisher_try_publish(publisher, record, length_of(sent));
        CHECK(status == ANNULUS_OK || status == ANNULUS_FULL);
    }
    sent--; /* The last one did not go. */
    CHECK(sent > 2);
    RETURNS(ANNULUS_TIMEOUT, annulus_bytes_publisher_publish_timeout(publisher, record, length_of(sent), 1000));
    for (int number = 0; number < sent; number++) {
        WORKS(annulus_bytes_subscriber_try_recv(subscriber, buffer, sizeof buffer, &length));
        is_record(buffer, length, number);
    }
    RETURNS(ANNULUS_EMPTY, annulus_bytes_subscriber_try_recv(subscriber, buffer, sizeof buffer, &length));
    RETURNS(ANNULUS_FULL, annulus_bytes_publisher_try_publish(publisher, record, length_of(sent)));
    WORKS(annulus_bytes_subscriber_free(slow));
    WORKS(annulus_bytes_publisher_publish(publisher, record, length_of(sent)));
    WORKS(annulus_bytes_publisher_publish_timeout(publisher, record, 0, 1000));
    WORKS(annulus_bytes_subscriber_recv(subscriber, buffer, sizeof buffer, &length));
    is_record(buffer, length, sent);
    CHECK(annulus_bytes_subscriber_len(subscriber) == 1 && annulus_bytes_subscriber_lagged(subscriber) == 0);
    WORKS(annulus_bytes_publisher_close(publisher));
    RETURNS(ANNULUS_CLOSED, annulus_bytes_publisher_publish(publisher, record, 1));
    RETURNS(ANNULUS_CLOSED, annulus_bytes_publisher_try_publish(publisher, record, 1));
    WORKS(annulus_bytes_subscriber_recv(subscriber, buffer, 0, &length));
    RETURNS(ANNULUS_CLOSED, annulus_bytes_subscriber_recv(subscriber, buffer, sizeof buffer, &length));
    CHECK(annulus_bytes_subscriber_received(subscriber) == (uint64_t)sent + 2);
    WORKS(annulus_bytes_subscriber_free(subscriber));
    WORKS(annulus_bytes_subscribable_free(subscribable));
    WORKS(annulus_bytes_publisher_free(publisher));
}

static void *publish(void *argument) {
    annulus_bytes_publisher *publisher = (annulus_bytes_publisher *)argument;
    unsigned char record[LONGEST];
    for (int number = 0; number < RECORDS; number++) {
        fill(record, number);
        WORKS(annulus_bytes_publisher_publish(publisher, record, length_of(number)));
    }
    WORKS(annulus_bytes_publisher_free(publisher));
    return NULL;
}

/* Each record is whole, whichever side is faster; what was received and what was lost are all. */
static void broadcast_by_threads(uint32_t kind) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(4096);
    annulus_bytes_publisher *publisher;
    annulus_bytes_subscribable *subscribable;
    annulus_bytes_subscriber *subscriber;
    WORKS(annulus_bytes_broadcast_new(kind, &options, &publisher, &subscribable));
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, false, &subscriber));
    pthread_t thread;
    SPAWN(&thread, publish, publisher);
    unsigned char buffer[LONGEST];
    size_t length;
    annulus_status status;
    while ((status = annulus_bytes_subscriber_recv(subscriber, buffer, sizeof buffer, &length)) == ANNULUS_OK) {
        const uint64_t number = annulus_bytes_subscriber_received(subscriber) + annulus_bytes_subscriber_lagged(subscriber);
        is_record(buffer, length, (int)number - 1);
    }
    RETURNS(ANNULUS_CLOSED, status);
    CHECK(annulus_bytes_subscriber_received(subscriber) + annulus_bytes_subscriber_lagged(subscriber) == RECORDS);
    CHECK(kind == ANNULUS_LOSSY || annulus_bytes_subscriber_lagged(subscriber) == 0);
    JOIN(thread);
    WORKS(annulus_bytes_subscriber_free(subscriber));
    WORKS(annulus_bytes_subscribable_free(subscribable));
}

int main(void) {
    queue();
    statuses();
    descriptors();
    broadcast();
    lossless();
    broadcast_by_threads(ANNULUS_LOSSY);
    broadcast_by_threads(ANNULUS_LOSSLESS);
    return 0;
}
