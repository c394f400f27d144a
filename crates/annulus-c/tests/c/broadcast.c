/* Broadcast rings: each subscriber sees every message, or is told how many it lost. */
#include <annulus.h>
#include <pthread.h>

#include "check.h"

enum { SUBSCRIBERS = 3, MESSAGES = 4000 };

struct quote {
    uint64_t number;
    double bid;
    double ask;
};

struct reading {
    annulus_subscriber *subscriber;
    uint64_t sum;
};

static void *read_all(void *argument) {
    struct reading *work = (struct reading *)argument;
    struct quote quote;
    uint64_t before = 0;
    while (annulus_subscriber_recv(work->subscriber, &quote, sizeof quote) == ANNULUS_OK) {
        CHECK(quote.bid == (double)quote.number && quote.ask == quote.bid + 1);
        CHECK(quote.number > before);
        before = quote.number;
        work->sum += quote.number;
    }
    return NULL;
}

static void publish(annulus_publisher *publisher, uint64_t number) {
    struct quote quote = {number, (double)number, (double)number + 1};
    WORKS(annulus_publisher_publish(publisher, &quote, sizeof quote));
}

/* With one publisher, one after the other; on a ring of many, by two handles in turn. */
static void run(uint32_t kind, bool lossless, bool many) {
    annulus_options options = ANNULUS_OPTIONS(16, sizeof(struct quote));
    options.flags = ANNULUS_STATISTICS;
    annulus_publisher *publisher, *second = NULL;
    annulus_subscribable *subscribable;
    WORKS(annulus_broadcast_new(kind, &options, &publisher, &subscribable));
    RETURNS(many ? ANNULUS_OK : ANNULUS_UNSUPPORTED, annulus_publisher_clone(publisher, &second));
    CHECK(annulus_publisher_capacity(publisher) == 16);

    pthread_t threads[SUBSCRIBERS];
    struct reading readings[SUBSCRIBERS];
    for (int index = 0; index < SUBSCRIBERS; index++) {
        readings[index].sum = 0;
        WORKS(annulus_subscribable_subscribe(subscribable, false, &readings[index].subscriber));
        SPAWN(&threads[index], read_all, &readings[index]);
    }
    for (uint64_t number = 1; number <= MESSAGES; number++) {
        publish(many && number % 2 ? second : publisher, number);
    }
    annulus_stats stats;
    stats.size = sizeof stats;
    WORKS(annulus_publisher_stats(publisher, &stats));
    CHECK(stats.published == MESSAGES && stats.readers == SUBSCRIBERS && !stats.closed);
    WORKS(annulus_publisher_free(publisher));
    if (many) {
        WORKS(annulus_publisher_free(second));
    }
    for (int index = 0; index < SUBSCRIBERS; index++) {
        JOIN(threads[index]);
        annulus_subscriber *subscriber = readings[index].subscriber;
        uint64_t received = annulus_subscriber_received(subscriber);
        uint64_t lagged = annulus_subscriber_lagged(subscriber);
        CHECK(received + lagged == MESSAGES); /* exactly */
        CHECK(!lossless || (lagged == 0 && readings[index].sum == (uint64_t)MESSAGES * (MESSAGES + 1) / 2));
        CHECK(annulus_subscriber_is_closed(subscriber) && annulus_subscriber_len(subscriber) == 0);
        WORKS(annulus_subscriber_free(subscriber));
        RETURNS(ANNULUS_NOT_A_HANDLE, annulus_subscriber_free(subscriber));
    }
    WORKS(annulus_subscribable_free(subscribable));
}

/* What a slow subscriber loses is counted, and a lossless publisher waits for it. */
static void slow(void) {
    annulus_options options = ANNULUS_OPTIONS(4, sizeof(struct quote));
    annulus_publisher *publisher;
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber, *late;
    struct quote quote = {0, 0, 1};

    WORKS(annulus_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
    RETURNS(ANNULUS_EMPTY, annulus_subscriber_try_recv(subscriber, &quote, sizeof quote));
    RETURNS(ANNULUS_TIMEOUT, annulus_subscriber_recv_timeout(subscriber, &quote, sizeof quote, 1000));
    for (uint64_t number = 1; number <= 10; number++) {
        publish(publisher, number);
    }
    WORKS(annulus_subscribable_subscribe(subscribable, true, &late));
    WORKS(annulus_subscriber_try_recv(late, &quote, sizeof quote));
    CHECK(quote.number == 7 && annulus_subscriber_lagged(late) == 0);
    WORKS(annulus_subscriber_free(late));
    WORKS(annulus_subscribable_subscribe(subscribable, true, &late));
    size_t there;
    WORKS(annulus_subscriber_begin_with_last(late, 99, &there));
    CHECK(there == 4);
    WORKS(annulus_subscriber_begin_with_last(late, 2, &there));
    WORKS(annulus_subscriber_try_recv(late, &quote, sizeof quote));
    CHECK(there == 2 && quote.number == 9 && annulus_subscriber_lagged(late) == 0);
    WORKS(annulus_subscriber_try_recv(subscriber, &quote, sizeof quote));
    CHECK(annulus_subscriber_lagged(subscriber) == quote.number - 1 && quote.number >= 7);
    RETURNS(ANNULUS_WRONG_SIZE, annulus_subscriber_try_recv(subscriber, &quote, 8));
    WORKS(annulus_publisher_free(publisher));
    while (annulus_subscriber_recv(subscriber, &quote, sizeof quote) == ANNULUS_OK) {
    }
    CHECK(annulus_subscriber_received(subscriber) + annulus_subscriber_lagged(subscriber) == 10);
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscriber_free(late));
    WORKS(annulus_subscribable_free(subscribable));

    annulus_closer *closer;
    WORKS(annulus_broadcast_new(ANNULUS_LOSSLESS, &options, &publisher, &subscribable));
    WORKS(annulus_publisher_closer(publisher, &closer));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
    annulus_status status;
    uint64_t published = 0;
    while ((status = annulus_publisher_try_publish(publisher, &quote, sizeof quote)) == ANNULUS_OK) {
        published++;
    }
    CHECK(status == ANNULUS_FULL && published == 4);
    RETURNS(ANNULUS_TIMEOUT, annulus_publisher_publish_timeout(publisher, &quote, sizeof quote, 1000));
    WORKS(annulus_subscriber_recv(subscriber, &quote, sizeof quote));
    WORKS(annulus_publisher_publish_timeout(publisher, &quote, sizeof quote, ANNULUS_FOREVER));
    WORKS(annulus_closer_close(closer));
    RETURNS(ANNULUS_CLOSED, annulus_publisher_publish(publisher, &quote, sizeof quote));
    WORKS(annulus_closer_free(closer));
    WORKS(annulus_publisher_free(publisher));
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));
}

int main(void) {
    run(ANNULUS_LOSSY, false, false);
    run(ANNULUS_LOSSLESS, true, false);
    run(ANNULUS_MP_LOSSY, false, true);
    run(ANNULUS_MP_LOSSLESS, true, true);
    slow();
    return 0;
}
