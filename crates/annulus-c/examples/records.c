/* Records of any length: lines of text, written in the ring and read there, and broadcast to subscribers. */
#include <annulus.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { LINES = 1000 };

static void *produce(void *argument) {
    annulus_bytes_producer *producer = (annulus_bytes_producer *)argument;
    for (int number = 0; number < LINES; number++) {
        void *room; /* for the longest line; what it really takes is known when it is written */
        WORKS(annulus_bytes_producer_reserve(producer, 64, ANNULUS_FOREVER, &room));
        const int length = snprintf((char *)room, 64, "line %d%s", number, number % 2 == 0 ? "" : ", an odd one");
        WORKS(annulus_bytes_producer_commit(producer, (size_t)length));
    }
    WORKS(annulus_bytes_producer_free(producer));
    return NULL;
}

static void queue(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(4096); /* bytes; a record may have half of them */
    annulus_bytes_producer *producer;
    annulus_bytes_consumer *consumer;
    WORKS(annulus_bytes_queue_new(&options, &producer, &consumer));
    pthread_t thread;
    SPAWN(&thread, produce, producer);
    const void *line;
    size_t length, odd = 0, lines = 0;
    while (annulus_bytes_consumer_readable(consumer, ANNULUS_FOREVER, &line, &length) == ANNULUS_OK) {
        CHECK(memcmp(line, "line ", 5) == 0);
        odd += memchr(line, ',', length) != NULL;
        lines++;
        WORKS(annulus_bytes_consumer_advance(consumer)); /* its room goes back */
    }
    CHECK(lines == LINES && odd == LINES / 2);
    JOIN(thread);
    WORKS(annulus_bytes_consumer_free(consumer));
}

static void broadcast(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(4096);
    annulus_bytes_publisher *publisher;
    annulus_bytes_subscribable *subscribable;
    annulus_bytes_subscriber *subscriber;
    WORKS(annulus_bytes_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, false, &subscriber));
    for (size_t length = 0; length < LINES; length += 10) {
        char text[LINES];
        memset(text, 'x', length);
        WORKS(annulus_bytes_publisher_publish(publisher, text, length)); /* waits for nobody */
    }
    WORKS(annulus_bytes_publisher_free(publisher));
    char small[100], large[2048];
    size_t length;
    annulus_status status;
    while ((status = annulus_bytes_subscriber_recv(subscriber, small, sizeof small, &length)) != ANNULUS_CLOSED) {
        if (status == ANNULUS_TOO_SMALL) { /* length says how long it is, and it waits for a larger buffer */
            WORKS(annulus_bytes_subscriber_recv(subscriber, large, sizeof large, &length));
        }
    }
    CHECK(annulus_bytes_subscriber_received(subscriber) + annulus_bytes_subscriber_lagged(subscriber) == LINES / 10);
    WORKS(annulus_bytes_subscriber_free(subscriber));
    WORKS(annulus_bytes_subscribable_free(subscribable));
}

int main(void) {
    queue();
    broadcast();
    return 0;
}
