/* Rings of each kind between two processes, messages of many sizes, by each verb. */
#include "two_processes.h"

static const size_t SIZES[] = {1, 12, 24, 200, 255, 256, 4096};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* By each verb in turn. */
static void receive_all(annulus_consumer *consumer, size_t size, annulus_status end) {
    unsigned char *messages = (unsigned char *)malloc(3 * size);
    uint64_t next = 0;
    annulus_status status = ANNULUS_OK;
    while (status != end) {
        size_t count = 0;
        switch (next % 3) {
        case 0:
            status = annulus_consumer_recv(consumer, messages, size);
            count = status == ANNULUS_OK;
            break;
        case 1:
            status = annulus_consumer_try_recv_batch(consumer, messages, 3, size, &count);
            break;
        default: {
            const void *there;
            status = annulus_consumer_readable(consumer, ANNULUS_FOREVER, &there, &count);
            if (status == ANNULUS_OK) {
                CHECK(annulus_consumer_stride(consumer) == size);
                count = count < 3 ? count : 3;
                memcpy(messages, there, count * size);
                WORKS(annulus_consumer_advance(consumer, count));
            }
        }
        }
        if (status != ANNULUS_OK) {
            CHECK(status == end || status == ANNULUS_EMPTY);
            continue;
        }
        for (size_t at = 0; at < count; at++) {
            is_number(messages + at * size, size, next++);
        }
    }
    CHECK(next == MESSAGES);
    free(messages);
}

static void consume(size_t size) {
    annulus_consumer *consumer = joined(size);
    CHECK(annulus_consumer_capacity(consumer) == CAPACITY);
    receive_all(consumer, size, ANNULUS_CLOSED);
    annulus_peer peer;
    WORKS(annulus_consumer_peer(consumer, &peer));
    CHECK(peer == ANNULUS_PEER_CLOSED);
    WORKS(annulus_consumer_free(consumer));
}

/* By each verb in turn. */
static void send_all(annulus_producer *producer, size_t size) {
    unsigned char *messages = (unsigned char *)malloc(3 * size);
    for (uint64_t number = 0; number < MESSAGES;) {
        size_t count = MESSAGES - number < 3 ? (size_t)(MESSAGES - number) : 3;
        for (size_t at = 0; at < count; at++) {
            fill(messages + at * size, size, number + at);
        }
        size_t sent = 0;
        annulus_status status = ANNULUS_OK;
        if (number % 3 == 0) {
            status = annulus_producer_send(producer, messages, size);
            sent = 1;
        } else if (number % 3 == 1) {
            status = annulus_producer_try_send_batch(producer, messages, count, size, &sent);
        } else {
            void *slots;
            status = annulus_producer_reserve(producer, count, ANNULUS_FOREVER, &slots, &sent);
            if (status == ANNULUS_OK) {
                memcpy(slots, messages, sent * size);
                status = annulus_producer_commit(producer, sent);
            }
        }
        CHECK(status == ANNULUS_OK || status == ANNULUS_FULL);
        number += status == ANNULUS_OK ? sent : 0;
    }
    free(messages);
}

static void a_queue(size_t size) {
    in_child(consume, size);
    annulus_producer *producer = new_producer(size, 0);
    send_all(producer, size);
    WORKS(annulus_producer_free(producer));
    ends_by(0);
}

static void subscribe(size_t size) {
    annulus_subscriber *subscriber = subscribed(size);
    tell();
    recv_numbers(subscriber, size, MESSAGES);
    annulus_stats stats;
    stats.size = sizeof stats;
    WORKS(annulus_subscriber_stats(subscriber, &stats));
    CHECK(stats.capacity == MESSAGES);
    RETURNS(ANNULUS_CLOSED, annulus_subscriber_recv(subscriber, message, size));
    CHECK(annulus_subscriber_lagged(subscriber) == 0);
    WORKS(annulus_subscriber_free(subscriber));
}

static void a_broadcast_ring(uint32_t kind, size_t size) {
    in_child(subscribe, size);
    annulus_publisher *publisher = new_publisher(kind, size);
    listen_for();
    publish_numbers(publisher, size, MESSAGES);
    WORKS(annulus_publisher_free(publisher));
    ends_by(0);
}

static void produce_to_many(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_invitation *invitation = received();
    annulus_producer *producer;
    WORKS(annulus_invitation_producer(invitation, &options, &producer, NULL));
    WORKS(annulus_invitation_free(invitation));
    send_all(producer, size);
    WORKS(annulus_producer_free(producer));
}

static void a_queue_of_several(size_t size) {
    in_child(produce_to_many, size);
    annulus_shared_options options = options_of(size);
    options.flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER;
    annulus_consumer *consumer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_consumer_new(&options, &consumer, &invitation, NULL));
    sends(invitation);
    receive_all(consumer, size, ANNULUS_CLOSED);
    WORKS(annulus_consumer_free(consumer));
    ends_by(0);
}

/* The child's: the second publisher, in a ring that is shorter than what comes. */
static void publish_too(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_invitation *invitation = received();
    annulus_publisher *publisher;
    WORKS(annulus_invitation_publisher(invitation, &options, &publisher, NULL));
    WORKS(annulus_invitation_free(invitation));
    listen_for();
    publish_numbers(publisher, size, MESSAGES);
    WORKS(annulus_publisher_free(publisher));
}

/* No message of a lossless ring of two publishers is lost. */
static void two_publishers(void) {
    const size_t size = 12;
    in_child(publish_too, size);
    annulus_shared_options options = options_of(size);
    options.flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER;
    options.places = 2;
    options.receivers = 1;
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber, *none;
    WORKS(annulus_shared_publisher_new(ANNULUS_MP_LOSSLESS, &options, &publisher, &invitation, NULL));
    WORKS(annulus_invitation_subscribable(invitation, &options, &subscribable, NULL));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
    RETURNS(ANNULUS_OCCUPIED, annulus_subscribable_subscribe(subscribable, false, &none));
    sends(invitation);
    publish_numbers(publisher, size, CAPACITY);
    RETURNS(ANNULUS_FULL, annulus_publisher_try_publish(publisher, message, size));
    recv_numbers(subscriber, size, CAPACITY);
    tell();
    recv_numbers(subscriber, size, MESSAGES);
    WORKS(annulus_publisher_free(publisher));
    RETURNS(ANNULUS_CLOSED, annulus_subscriber_recv(subscriber, message, size));
    CHECK(annulus_subscriber_lagged(subscriber) == 0);
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));
    ends_by(0);
}

int main(void) {
    for (int at = 0; at < SIZE_COUNT; at++) {
        a_queue(SIZES[at]);
        a_broadcast_ring(ANNULUS_LOSSY, SIZES[at]);
    }
    a_queue_of_several(12);
    a_queue_of_several(200);
    a_broadcast_ring(ANNULUS_LOSSLESS, 12);
    a_broadcast_ring(ANNULUS_MP_LOSSY, 12);
    a_broadcast_ring(ANNULUS_MP_LOSSY, 1000);
    a_broadcast_ring(ANNULUS_MP_LOSSLESS, 12);
    a_broadcast_ring(ANNULUS_MP_LOSSLESS, 1000);
    two_publishers();
    return 0;
}
