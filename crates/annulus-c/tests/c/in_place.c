/* Messages that are written and read where they lie in the ring, of a size that is no multiple of 8, too. */
#include <annulus.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { MESSAGES = 10000 };

static size_t message_size;

static void *produce(void *argument) {
    annulus_producer *producer = (annulus_producer *)argument;
    size_t stride = annulus_producer_stride(producer);
    CHECK(stride >= message_size && stride % 8 == 0 && stride < message_size + 8);
    for (int number = 0; number < MESSAGES;) {
        void *slots;
        size_t count;
        WORKS(annulus_producer_reserve(producer, 5, ANNULUS_FOREVER, &slots, &count));
        CHECK(count >= 1 && count <= 5);
        /* One less than there is room for, if that is any. */
        size_t sent = count > 1 ? count - 1 : 1;
        if (sent > (size_t)(MESSAGES - number)) {
            sent = (size_t)(MESSAGES - number);
        }
        for (size_t index = 0; index < sent; index++) {
            memset((char *)slots + index * stride, number % 251, message_size);
            number++;
        }
        RETURNS(ANNULUS_RESERVED, annulus_producer_try_send(producer, slots, message_size));
        RETURNS(ANNULUS_INVALID, annulus_producer_commit(producer, count + 1));
        WORKS(annulus_producer_commit(producer, sent));
        RETURNS(ANNULUS_INVALID, annulus_producer_commit(producer, 1));
    }
    WORKS(annulus_producer_free(producer));
    return NULL;
}

static void run(uint32_t kind, size_t size) {
    message_size = size;
    annulus_options options = ANNULUS_OPTIONS(7, size);
    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(kind, &options, &producer, &consumer));
    CHECK(annulus_producer_capacity(producer) == 7 && annulus_consumer_capacity(consumer) == 7);
    pthread_t thread;
    SPAWN(&thread, produce, producer);

    size_t stride = annulus_consumer_stride(consumer);
    int next = 0;
    const void *messages;
    size_t count;
    while (annulus_consumer_readable(consumer, ANNULUS_FOREVER, &messages, &count) == ANNULUS_OK) {
        CHECK(count >= 1 && count <= 7);
        for (size_t index = 0; index < count; index++) {
            const unsigned char *message = (const unsigned char *)messages + index * stride;
            for (size_t byte = 0; byte < size; byte++) {
                CHECK(message[byte] == next % 251);
            }
            next++;
        }
        RETURNS(ANNULUS_INVALID, annulus_consumer_advance(consumer, count + 1));
        WORKS(annulus_consumer_advance(consumer, count));
        RETURNS(ANNULUS_INVALID, annulus_consumer_advance(consumer, 1));
    }
    CHECK(next == MESSAGES);
    CHECK(messages == NULL && count == 0);
    JOIN(thread);
    WORKS(annulus_consumer_free(consumer));
}

int main(void) {
    const size_t sizes[] = {1, 8, 13, 24, 64, 1000};
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        run(ANNULUS_SPSC, sizes[index]);
        run(ANNULUS_MPSC, sizes[index]);
    }
    return 0;
}
