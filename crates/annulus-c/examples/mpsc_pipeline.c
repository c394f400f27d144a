/* Many producers, and a consumer that takes batches. Each producer's messages arrive in its order. */
#include <annulus.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { PRODUCERS = 4, EACH = 5000 };

struct record {
    uint32_t producer;
    uint32_t number;
    char text[21];
};

struct work {
    annulus_producer *producer;
    uint32_t index;
};

static void *produce(void *argument) {
    struct work *work = (struct work *)argument;
    struct record records[3];
    memset(records, 0, sizeof records);
    for (uint32_t number = 0; number < EACH;) {
        uint32_t some = 1 + number % 3 < EACH - number ? 1 + number % 3 : EACH - number;
        for (uint32_t index = 0; index < some; index++) {
            records[index].producer = work->index;
            records[index].number = number + index;
        }
        size_t sent;
        annulus_status status =
            annulus_producer_try_send_batch(work->producer, records, some, sizeof *records, &sent);
        if (status == ANNULUS_FULL) {
            WORKS(annulus_producer_send(work->producer, records, sizeof *records));
            sent = 1;
        } else {
            WORKS(status);
        }
        number += (uint32_t)sent;
    }
    WORKS(annulus_producer_free(work->producer));
    return NULL;
}

int main(void) {
    annulus_options options = ANNULUS_OPTIONS(100, sizeof(struct record));
    annulus_producer *first;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(ANNULUS_MPSC, &options, &first, &consumer));

    pthread_t threads[PRODUCERS];
    struct work work[PRODUCERS];
    for (uint32_t index = 0; index < PRODUCERS; index++) {
        work[index].index = index;
        WORKS(annulus_producer_clone(first, &work[index].producer));
        SPAWN(&threads[index], produce, &work[index]);
    }
    WORKS(annulus_producer_free(first));

    uint32_t next[PRODUCERS] = {0};
    struct record records[16];
    for (;;) {
        size_t received;
        annulus_status status =
            annulus_consumer_try_recv_batch(consumer, records, 16, sizeof *records, &received);
        if (status == ANNULUS_EMPTY) {
            status = annulus_consumer_recv(consumer, records, sizeof *records);
            received = 1;
        }
        if (status == ANNULUS_CLOSED) {
            break;
        }
        WORKS(status);
        for (size_t index = 0; index < received; index++) {
            CHECK(records[index].number == next[records[index].producer]++);
        }
    }
    for (uint32_t index = 0; index < PRODUCERS; index++) {
        CHECK(next[index] == EACH);
        JOIN(threads[index]);
    }
    WORKS(annulus_consumer_free(consumer));
    return 0;
}
