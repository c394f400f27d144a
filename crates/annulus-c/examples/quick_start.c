/* The quick start of the README. */
#include <annulus.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

struct order {
    uint64_t number;
    double price;
};

static void *produce(void *argument) {
    annulus_producer *producer = (annulus_producer *)argument;
    for (uint64_t number = 1; number <= 1000; number++) {
        struct order order = {number, 1.5};
        WORKS(annulus_producer_send(producer, &order, sizeof order)); /* waits while the queue is full */
    }
    WORKS(annulus_producer_free(producer)); /* the last one closes the queue */
    return NULL;
}

int main(void) {
    CHECK(annulus_abi_version() == ANNULUS_ABI_VERSION);
    CHECK(strcmp(annulus_version(), ANNULUS_VERSION) == 0);

    annulus_options options = ANNULUS_OPTIONS(64, sizeof(struct order));

    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &consumer));
    pthread_t thread;
    SPAWN(&thread, produce, producer);

    uint64_t sum = 0;
    struct order order;
    while (annulus_consumer_recv(consumer, &order, sizeof order) == ANNULUS_OK) {
        sum += order.number;
    }
    CHECK(sum == 500500);
    JOIN(thread);
    WORKS(annulus_consumer_free(consumer));
    return 0;
}
