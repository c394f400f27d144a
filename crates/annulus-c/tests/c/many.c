/* Many consumers, each message to one of them, of each kind of queue. */
#include <annulus.h>
#include <pthread.h>

#include "check.h"

enum { THREADS = 3, EACH = 3000 };

struct producing {
    annulus_producer *producer;
    uint64_t first;
};

struct consuming {
    annulus_consumer *consumer;
    uint64_t sum;
};

static void *produce(void *argument) {
    struct producing *work = (struct producing *)argument;
    for (uint64_t number = work->first; number < work->first + EACH; number++) {
        WORKS(annulus_producer_send(work->producer, &number, sizeof number));
    }
    WORKS(annulus_producer_free(work->producer));
    return NULL;
}

static void *consume(void *argument) {
    struct consuming *work = (struct consuming *)argument;
    uint64_t number;
    while (annulus_consumer_recv(work->consumer, &number, sizeof number) == ANNULUS_OK) {
        work->sum += number;
    }
    WORKS(annulus_consumer_free(work->consumer));
    return NULL;
}

static void run(uint32_t kind, uint64_t producers) {
    annulus_options options = ANNULUS_OPTIONS(10, sizeof(uint64_t));
    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(kind, &options, &producer, &consumer));

    void *slots;
    const void *messages;
    size_t count;
    RETURNS(ANNULUS_UNSUPPORTED, annulus_producer_try_reserve(producer, 1, &slots, &count));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_consumer_readable(consumer, 0, &messages, &count));

    pthread_t senders[THREADS], receivers[THREADS];
    struct producing producing[THREADS];
    struct consuming consuming[THREADS];
    for (int index = 0; index < THREADS; index++) {
        consuming[index].sum = 0;
        WORKS(annulus_consumer_clone(consumer, &consuming[index].consumer));
        SPAWN(&receivers[index], consume, &consuming[index]);
    }
    WORKS(annulus_consumer_free(consumer));
    for (uint64_t index = 0; index < producers; index++) {
        producing[index].first = 1 + index * EACH;
        if (index + 1 < producers) {
            WORKS(annulus_producer_clone(producer, &producing[index].producer));
        } else {
            producing[index].producer = producer;
        }
        SPAWN(&senders[index], produce, &producing[index]);
    }
    uint64_t sum = 0;
    for (uint64_t index = 0; index < producers; index++) {
        JOIN(senders[index]);
    }
    for (int index = 0; index < THREADS; index++) {
        JOIN(receivers[index]);
        sum += consuming[index].sum;
    }
    uint64_t all = producers * EACH;
    CHECK(sum == all * (all + 1) / 2);
}

int main(void) {
    run(ANNULUS_SPMC, 1);
    run(ANNULUS_MPMC, THREADS);
    run(ANNULUS_ORDERED, THREADS);
    return 0;
}
