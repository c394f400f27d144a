/* A queue that is full: the producer is told, gives up in time, or waits. */
#include <annulus.h>
#include <pthread.h>

#include "check.h"

static void *consume(void *argument) {
    annulus_consumer *consumer = (annulus_consumer *)argument;
    uint32_t number;
    for (uint32_t next = 0; annulus_consumer_recv(consumer, &number, sizeof number) == ANNULUS_OK; next++) {
        CHECK(number == next);
    }
    WORKS(annulus_consumer_free(consumer));
    return NULL;
}

static void run(uint32_t kind, uint32_t wait) {
    annulus_options options = ANNULUS_OPTIONS(2, sizeof(uint32_t));
    options.wait.kind = wait;
    options.flags = ANNULUS_STATISTICS;
    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(kind, &options, &producer, &consumer));

    uint32_t number = 0, none;
    RETURNS(ANNULUS_EMPTY, annulus_consumer_try_recv(consumer, &none, sizeof none));
    RETURNS(ANNULUS_TIMEOUT, annulus_consumer_recv_timeout(consumer, &none, sizeof none, 1000));
    WORKS(annulus_producer_try_send(producer, &number, sizeof number));
    number++;
    WORKS(annulus_producer_send_timeout(producer, &number, sizeof number, 0));
    number++;
    RETURNS(ANNULUS_FULL, annulus_producer_try_send(producer, &number, sizeof number));
    RETURNS(ANNULUS_TIMEOUT, annulus_producer_send_timeout(producer, &number, sizeof number, 1000000));
    CHECK(annulus_producer_len(producer) == 2 && annulus_consumer_len(consumer) == 2);

    pthread_t thread;
    SPAWN(&thread, consume, consumer);
    for (; number < 2000; number++) {
        WORKS(annulus_producer_send_timeout(producer, &number, sizeof number, ANNULUS_FOREVER));
    }
    WORKS(annulus_producer_free(producer));
    JOIN(thread);
}

int main(void) {
    for (uint32_t kind = ANNULUS_SPSC; kind <= ANNULUS_ORDERED; kind++) {
        run(kind, ANNULUS_WAIT_DEFAULT);
        run(kind, ANNULUS_WAIT_ADAPTIVE);
        run(kind, ANNULUS_WAIT_BLOCK);
    }
    return 0;
}
