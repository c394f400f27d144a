/* Frames that are too large to copy lie in a pool; their handles go through a queue. */
#include <annulus.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { FRAMES = 1000, FRAME_BYTES = 10000, BUFFERS = 4 };

struct frame {
    uint32_t buffer;
    uint32_t number;
};

struct both {
    annulus_pool *pool;
    annulus_producer *producer;
};

static void *produce(void *argument) {
    struct both *both = (struct both *)argument;
    for (uint32_t number = 0; number < FRAMES; number++) {
        struct frame frame = {0, number};
        void *bytes;
        annulus_status status;
        while ((status = annulus_pool_alloc(both->pool, &frame.buffer, &bytes)) == ANNULUS_EMPTY) {
            sched_yield(); /* all buffers are under way */
        }
        WORKS(status);
        memset(bytes, (int)(number % 251), FRAME_BYTES);
        WORKS(annulus_producer_send(both->producer, &frame, sizeof frame));
    }
    WORKS(annulus_producer_free(both->producer));
    return NULL;
}

int main(void) {
    struct both both;
    annulus_consumer *consumer;
    annulus_options options = ANNULUS_OPTIONS(BUFFERS, sizeof(struct frame));
    WORKS(annulus_pool_new(FRAME_BYTES, BUFFERS, &both.pool));
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &both.producer, &consumer));
    CHECK(annulus_pool_buffer_size(both.pool) == FRAME_BYTES && annulus_pool_available(both.pool) == BUFFERS);
    pthread_t thread;
    SPAWN(&thread, produce, &both);

    struct frame frame;
    uint32_t next = 0;
    while (annulus_consumer_recv(consumer, &frame, sizeof frame) == ANNULUS_OK) {
        void *bytes;
        uint32_t own;
        WORKS(annulus_pool_redeem(both.pool, frame.buffer, &own, &bytes));
        RETURNS(ANNULUS_NOT_A_HANDLE, annulus_pool_redeem(both.pool, frame.buffer, &frame.buffer, &bytes));
        WORKS(annulus_pool_redeem(both.pool, own, &own, &bytes)); /* one owner to the next */
        const unsigned char *frame_bytes = (const unsigned char *)bytes;
        CHECK(frame.number == next++);
        CHECK(frame_bytes[0] == frame.number % 251 && frame_bytes[FRAME_BYTES - 1] == frame.number % 251);
        WORKS(annulus_pool_release(both.pool, own));
        RETURNS(ANNULUS_NOT_A_HANDLE, annulus_pool_release(both.pool, own));
    }
    CHECK(next == FRAMES);
    JOIN(thread);
    CHECK(annulus_pool_available(both.pool) == BUFFERS);
    WORKS(annulus_consumer_free(consumer));
    WORKS(annulus_pool_free(both.pool));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_pool_free(both.pool));
    return 0;
}
