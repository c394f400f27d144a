/* Views of handles that were freed, that have one already, or that can't have one; and handles that have one. */
#include <annulus_inline.h>

#include "check.h"

static uint64_t number;
#define NUMBER &number, sizeof number

static void queues(void) {
    annulus_options options = ANNULUS_OPTIONS(4, sizeof number);
    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &consumer));
    annulus_spsc_producer out, other_out;
    annulus_spsc_consumer in, other_in;
    void *slots;
    const void *messages;
    size_t count;

    /* Reserved and not committed. */
    WORKS(annulus_producer_try_reserve(producer, 1, &slots, &count));
    RETURNS(ANNULUS_RESERVED, annulus_spsc_producer_open(&out, producer));
    WORKS(annulus_producer_commit(producer, 0));

    WORKS(annulus_spsc_producer_open(&out, producer));
    WORKS(annulus_spsc_consumer_open(&in, consumer));
    RETURNS(ANNULUS_VIEWED, annulus_spsc_producer_open(&other_out, producer));
    RETURNS(ANNULUS_VIEWED, annulus_spsc_consumer_open(&other_in, consumer));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_send(&other_out, NUMBER));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_recv(&other_in, NUMBER));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_send_batch(&other_out, &number, 1, sizeof number, &count));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_recv_batch(&other_in, &number, 1, sizeof number, &count));
    WORKS(annulus_spsc_producer_end(&other_out));
    WORKS(annulus_spsc_consumer_end(&other_in));

    /* The handle's own functions say so, and do nothing. */
    RETURNS(ANNULUS_VIEWED, annulus_producer_try_send(producer, NUMBER));
    RETURNS(ANNULUS_VIEWED, annulus_producer_send(producer, NUMBER));
    RETURNS(ANNULUS_VIEWED, annulus_producer_try_send_batch(producer, &number, 1, sizeof number, &count));
    RETURNS(ANNULUS_VIEWED, annulus_producer_try_reserve(producer, 1, &slots, &count));
    RETURNS(ANNULUS_VIEWED, annulus_producer_commit(producer, 0));
    RETURNS(ANNULUS_VIEWED, annulus_producer_free(producer));
    RETURNS(ANNULUS_VIEWED, annulus_consumer_try_recv(consumer, NUMBER));
    RETURNS(ANNULUS_VIEWED, annulus_consumer_recv(consumer, NUMBER));
    RETURNS(ANNULUS_VIEWED, annulus_consumer_readable(consumer, 0, &messages, &count));
    RETURNS(ANNULUS_VIEWED, annulus_consumer_advance(consumer, 0));
    RETURNS(ANNULUS_VIEWED, annulus_consumer_free(consumer));

    /* A view is told what a handle is told. */
    RETURNS(ANNULUS_EMPTY, annulus_spsc_try_recv(&in, NUMBER));
    RETURNS(ANNULUS_TIMEOUT, annulus_spsc_recv_timeout(&in, NUMBER, 1000));
    /* The size comes before what is there, and before a wait. */
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_try_recv(&in, &number, 4));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_recv_timeout(&in, &number, 4, 1000));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_reserve(&out, 0, &slots, &count));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_try_send(&out, &number, 4));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_try_send_batch(&out, &number, 1, 4, &count));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_try_recv_batch(&in, &number, 1, 4, &count));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_send_batch(&out, &number, 0, sizeof number, &count));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_recv_batch(&in, &number, 0, sizeof number, &count));
    RETURNS(ANNULUS_EMPTY, annulus_spsc_try_recv_batch(&in, &number, 1, sizeof number, &count));
    CHECK(count == 0);
    WORKS(annulus_spsc_try_reserve(&out, 9, &slots, &count));
    CHECK(count == 4);
    RETURNS(ANNULUS_INVALID, annulus_spsc_commit(&out, 5));
    RETURNS(ANNULUS_INVALID, annulus_spsc_commit(&out, SIZE_MAX));
    memset(slots, 0, 4 * sizeof number);
    WORKS(annulus_spsc_commit(&out, 4));
    RETURNS(ANNULUS_FULL, annulus_spsc_try_send(&out, NUMBER));
    RETURNS(ANNULUS_FULL, annulus_spsc_try_send_batch(&out, &number, 1, sizeof number, &count));
    RETURNS(ANNULUS_TIMEOUT, annulus_spsc_send_timeout(&out, NUMBER, 1000));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_try_send(&out, &number, 4));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_send_timeout(&out, &number, 4, 1000));
    CHECK(annulus_producer_len(producer) == 4 && annulus_consumer_len(consumer) == 4);
    WORKS(annulus_spsc_readable(&in, 0, &messages, &count));
    CHECK(count == 4);
    RETURNS(ANNULUS_INVALID, annulus_spsc_advance(&in, 5));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_try_recv(&in, &number, 4));
    WORKS(annulus_spsc_advance(&in, 3));

    /* Ended twice; used after the end; the handle goes on. */
    WORKS(annulus_spsc_producer_end(&out));
    WORKS(annulus_spsc_producer_end(&out));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_send(&out, NUMBER));
    RETURNS(ANNULUS_INVALID, annulus_spsc_try_send(&out, &number, 0));
    RETURNS(ANNULUS_INVALID, annulus_spsc_reserve(&out, 1, ANNULUS_FOREVER, &slots, &count));
    RETURNS(ANNULUS_INVALID, annulus_spsc_commit(&out, 1));
    WORKS(annulus_producer_try_send(producer, NUMBER));
    WORKS(annulus_spsc_consumer_end(&in));
    RETURNS(ANNULUS_INVALID, annulus_spsc_recv(&in, NUMBER));
    RETURNS(ANNULUS_INVALID, annulus_spsc_readable(&in, ANNULUS_FOREVER, &messages, &count));
    RETURNS(ANNULUS_INVALID, annulus_spsc_advance(&in, 1));
    WORKS(annulus_consumer_try_recv(consumer, NUMBER));
    WORKS(annulus_consumer_try_recv(consumer, NUMBER));
    RETURNS(ANNULUS_EMPTY, annulus_consumer_try_recv(consumer, NUMBER));

    /* Of a closed queue; of handles that are none. */
    WORKS(annulus_spsc_consumer_open(&in, consumer));
    WORKS(annulus_producer_free(producer));
    RETURNS(ANNULUS_CLOSED, annulus_spsc_try_recv(&in, NUMBER));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_spsc_try_recv(&in, &number, 4));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_spsc_producer_open(&out, producer));
    RETURNS(ANNULUS_INVALID, annulus_spsc_producer_open(&out, NULL));
    RETURNS(ANNULUS_INVALID, annulus_producer_view(producer, ANNULUS_VIEW_VERSION, NULL));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_consumer_view(consumer, ANNULUS_VIEW_VERSION + 1, &other_in));
    WORKS(annulus_spsc_consumer_end(&in));
    WORKS(annulus_consumer_free(consumer));

    WORKS(annulus_queue_new(ANNULUS_MPSC, &options, &producer, &consumer));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_spsc_producer_open(&out, producer));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_spsc_consumer_open(&in, consumer));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_consumer_free(consumer));
}

static void rings(void) {
    annulus_options options = ANNULUS_OPTIONS(8, sizeof number);
    annulus_publisher *publisher, *another;
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber;
    WORKS(annulus_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
    annulus_lossy_publisher out, other_out;
    annulus_lossy_subscriber in, other_in;
    WORKS(annulus_lossy_publisher_open(&out, publisher));
    WORKS(annulus_lossy_subscriber_open(&in, subscriber));
    RETURNS(ANNULUS_VIEWED, annulus_lossy_publisher_open(&other_out, publisher));
    RETURNS(ANNULUS_VIEWED, annulus_lossy_subscriber_open(&other_in, subscriber));
    RETURNS(ANNULUS_INVALID, annulus_lossy_publish(&other_out, NUMBER));
    RETURNS(ANNULUS_INVALID, annulus_lossy_recv(&other_in, NUMBER));
    RETURNS(ANNULUS_VIEWED, annulus_publisher_publish(publisher, NUMBER));
    RETURNS(ANNULUS_VIEWED, annulus_publisher_free(publisher));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_publisher_clone(publisher, &another));
    RETURNS(ANNULUS_VIEWED, annulus_subscriber_try_recv(subscriber, NUMBER));
    RETURNS(ANNULUS_VIEWED, annulus_subscriber_free(subscriber));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_lossy_publish(&out, &number, 4));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_lossy_try_recv(&in, &number, 4));
    RETURNS(ANNULUS_EMPTY, annulus_lossy_try_recv(&in, NUMBER));
    RETURNS(ANNULUS_TIMEOUT, annulus_lossy_recv_timeout(&in, NUMBER, 1000));
    WORKS(annulus_lossy_publish(&out, NUMBER));
    WORKS(annulus_lossy_publisher_end(&out));
    WORKS(annulus_lossy_publisher_end(&out));
    RETURNS(ANNULUS_INVALID, annulus_lossy_publish(&out, NUMBER));
    RETURNS(ANNULUS_INVALID, annulus_lossy_publish(&out, &number, 0));
    WORKS(annulus_publisher_publish(publisher, NUMBER));
    WORKS(annulus_lossy_try_recv(&in, NUMBER));
    WORKS(annulus_lossy_subscriber_end(&in));
    RETURNS(ANNULUS_INVALID, annulus_lossy_try_recv(&in, NUMBER));
    CHECK(annulus_subscriber_len(subscriber) == 1 && annulus_subscriber_received(subscriber) == 1);
    WORKS(annulus_publisher_free(publisher));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_lossy_publisher_open(&out, publisher));
    WORKS(annulus_lossy_subscriber_open(&in, subscriber));
    WORKS(annulus_lossy_recv(&in, NUMBER));
    RETURNS(ANNULUS_CLOSED, annulus_lossy_recv(&in, NUMBER));
    WORKS(annulus_lossy_subscriber_end(&in));
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));

    WORKS(annulus_broadcast_new(ANNULUS_LOSSLESS, &options, &publisher, &subscribable));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_lossy_publisher_open(&out, publisher));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_lossy_subscriber_open(&in, subscriber));
    WORKS(annulus_publisher_free(publisher));
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));
}

int main(void) {
    queues();
    rings();
    return 0;
}
