/* A thread that sleeps at a ring is woken by one step of a view: one message, or one free slot, and nothing that follows. */
#include <annulus_inline.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

static uint64_t number = 7;
#define NUMBER &number, sizeof number

/* Until a thread sleeps at the ring, or is about to: the ring counts it. */
#define AWAIT_SLEEP(type, handle)                                                           \
    do {                                                                                    \
        stats.size = sizeof stats;                                                          \
        WORKS(annulus_##type##_stats(handle, &stats));                                      \
        sched_yield();                                                                      \
    } while (stats.sleeps == 0)

static annulus_stats stats;

static void *send_two(void *producer) {
    annulus_spsc_producer out;
    WORKS(annulus_spsc_producer_open(&out, (annulus_producer *)producer));
    WORKS(annulus_spsc_send(&out, NUMBER));
    WORKS(annulus_spsc_send(&out, NUMBER)); /* when there is room */
    WORKS(annulus_spsc_producer_end(&out));
    return NULL;
}

static void *receive_from(void *consumer) {
    annulus_spsc_consumer in;
    uint64_t received;
    WORKS(annulus_spsc_consumer_open(&in, (annulus_consumer *)consumer));
    WORKS(annulus_spsc_recv(&in, &received, sizeof received));
    CHECK(received == 7);
    WORKS(annulus_spsc_consumer_end(&in));
    return NULL;
}

static void *subscribe_to(void *subscriber) {
    annulus_lossy_subscriber in;
    uint64_t received;
    WORKS(annulus_lossy_subscriber_open(&in, (annulus_subscriber *)subscriber));
    WORKS(annulus_lossy_recv(&in, &received, sizeof received));
    CHECK(received == 7);
    WORKS(annulus_lossy_subscriber_end(&in));
    return NULL;
}

int main(void) {
    annulus_options options = ANNULUS_OPTIONS(1, sizeof number);
    options.wait.kind = ANNULUS_WAIT_BLOCK;
    options.flags = ANNULUS_STATISTICS;
    annulus_producer *producer;
    annulus_consumer *consumer;
    pthread_t thread;

    /* By a free slot. */
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &consumer));
    SPAWN(&thread, send_two, producer);
    AWAIT_SLEEP(consumer, consumer);
    annulus_spsc_consumer in;
    uint64_t received;
    WORKS(annulus_spsc_consumer_open(&in, consumer));
    WORKS(annulus_spsc_recv(&in, &received, sizeof received));
    JOIN(thread);
    WORKS(annulus_spsc_try_recv(&in, &received, sizeof received));
    WORKS(annulus_spsc_consumer_end(&in));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_consumer_free(consumer));

    /* By a message, in a ring that is young and in one that is not, whose senders look for nobody any more. */
    for (int before = 0; before <= 1000; before += 1000) {
        WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &consumer));
        annulus_spsc_producer out;
        WORKS(annulus_spsc_producer_open(&out, producer));
        for (int index = 0; index < before; index++) {
            WORKS(annulus_spsc_try_send(&out, NUMBER));
            WORKS(annulus_consumer_try_recv(consumer, NUMBER));
        }
        SPAWN(&thread, receive_from, consumer);
        AWAIT_SLEEP(producer, producer);
        WORKS(annulus_spsc_try_send(&out, NUMBER));
        JOIN(thread);
        WORKS(annulus_spsc_producer_end(&out));
        WORKS(annulus_producer_free(producer));
        WORKS(annulus_consumer_free(consumer));

        options.capacity = 64;
        annulus_publisher *publisher;
        annulus_subscribable *subscribable;
        annulus_subscriber *subscriber;
        WORKS(annulus_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
        annulus_lossy_publisher publish;
        WORKS(annulus_lossy_publisher_open(&publish, publisher));
        for (int index = 0; index < before; index++) {
            WORKS(annulus_lossy_publish(&publish, NUMBER));
        }
        WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
        SPAWN(&thread, subscribe_to, subscriber);
        AWAIT_SLEEP(publisher, publisher);
        WORKS(annulus_lossy_publish(&publish, NUMBER));
        JOIN(thread);
        WORKS(annulus_lossy_publisher_end(&publish));
        WORKS(annulus_publisher_free(publisher));
        WORKS(annulus_subscriber_free(subscriber));
        WORKS(annulus_subscribable_free(subscribable));
        options.capacity = 1;
    }
    return 0;
}
