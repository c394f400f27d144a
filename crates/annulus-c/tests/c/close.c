/* How a queue ends, and what is told of handles that are none. */
#include <annulus.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

static void *consume(void *argument) {
    annulus_consumer *consumer = (annulus_consumer *)argument;
    uint64_t number;
    WORKS(annulus_consumer_recv(consumer, &number, sizeof number));
    CHECK(number == 1);
    RETURNS(ANNULUS_CLOSED, annulus_consumer_recv(consumer, &number, sizeof number)); /* woken by the close */
    RETURNS(ANNULUS_CLOSED, annulus_consumer_try_recv(consumer, &number, sizeof number));
    return NULL;
}

static void run(uint32_t kind) {
    annulus_options options = ANNULUS_OPTIONS(4, sizeof(uint64_t));
    annulus_producer *producer, *none;
    annulus_consumer *consumer;
    annulus_closer *closer;
    uint64_t number = 1;

    WORKS(annulus_queue_new(kind, &options, &producer, &consumer));
    WORKS(annulus_producer_closer(producer, &closer));
    CHECK(!annulus_producer_is_closed(producer) && !annulus_consumer_is_closed(consumer));
    WORKS(annulus_producer_send(producer, &number, sizeof number));
    pthread_t thread;
    SPAWN(&thread, consume, consumer);
    while (annulus_producer_len(producer) > 0) {
    }
    WORKS(annulus_closer_close(closer));
    JOIN(thread);
    CHECK(annulus_producer_is_closed(producer) && annulus_consumer_is_closed(consumer));
    RETURNS(ANNULUS_CLOSED, annulus_producer_send(producer, &number, sizeof number));
    RETURNS(ANNULUS_CLOSED, annulus_producer_try_send(producer, &number, sizeof number));
    RETURNS(ANNULUS_CLOSED, annulus_producer_send_timeout(producer, &number, sizeof number, 1000));

    /* Sizes and pointers that can't be. */
    RETURNS(ANNULUS_WRONG_SIZE, annulus_producer_try_send(producer, &number, 4));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_consumer_try_recv(consumer, &number, 16));
    RETURNS(ANNULUS_INVALID, annulus_producer_try_send(producer, NULL, sizeof number));
    RETURNS(ANNULUS_INVALID, annulus_producer_try_send(NULL, &number, sizeof number));
    annulus_consumer *no_consumer;
    RETURNS(ANNULUS_INVALID, annulus_queue_new(kind, &options, NULL, &no_consumer));
    RETURNS(ANNULUS_INVALID, annulus_queue_new(0, &options, &none, &no_consumer));
    options.size = 3;
    RETURNS(ANNULUS_INVALID, annulus_queue_new(kind, &options, &none, &no_consumer));
    CHECK(none == NULL && no_consumer == NULL);

    /* A handle of another type, and one that was freed. */
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_producer_try_send((annulus_producer *)(void *)closer, &number, 8));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_consumer_free((annulus_consumer *)(void *)producer));
    WORKS(annulus_producer_free(producer));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_producer_free(producer));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_producer_try_send(producer, &number, sizeof number));
    CHECK(annulus_producer_is_closed(producer) && annulus_producer_len(producer) == 0);
    WORKS(annulus_producer_free(NULL));
    WORKS(annulus_closer_free(closer));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_closer_close(closer));
    WORKS(annulus_consumer_free(consumer));
}

int main(void) {
    for (uint32_t kind = ANNULUS_SPSC; kind <= ANNULUS_ORDERED; kind++) {
        run(kind);
    }
    CHECK(strcmp(annulus_strerror(ANNULUS_CLOSED), "the ring is closed") == 0);
    CHECK(strcmp(annulus_strerror(-1), "no status of annulus") == 0);
    return 0;
}
