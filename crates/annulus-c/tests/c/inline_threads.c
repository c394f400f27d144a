/* Through views, between threads that sleep: every message comes, in order, and the end comes last. */
#include <annulus_inline.h>
#include <pthread.h>

#include "check.h"

enum { MESSAGES = 5000 };

struct message {
    uint64_t number, twice, thrice;
};

static struct message numbered(uint64_t number) {
    struct message message = {number, 2 * number, 3 * number};
    return message;
}

static void *send_all(void *argument) {
    annulus_producer *producer = (annulus_producer *)argument;
    annulus_spsc_producer out;
    WORKS(annulus_spsc_producer_open(&out, producer));
    for (uint64_t number = 0; number < MESSAGES;) {
        if (number % 3 == 0) {
            struct message message = numbered(number++);
            WORKS(annulus_spsc_send(&out, &message, sizeof message));
        } else {
            void *slots;
            size_t count;
            WORKS(annulus_spsc_reserve(&out, 7, ANNULUS_FOREVER, &slots, &count));
            CHECK(count >= 1 && count <= 7);
            if (count > MESSAGES - number) {
                count = (size_t)(MESSAGES - number);
            }
            for (size_t index = 0; index < count; index++) {
                ((struct message *)slots)[index] = numbered(number++);
            }
            WORKS(annulus_spsc_commit(&out, count));
        }
    }
    WORKS(annulus_spsc_producer_end(&out));
    WORKS(annulus_producer_free(producer));
    return NULL;
}

static void queue(size_t capacity, uint32_t wait) {
    annulus_options options = ANNULUS_OPTIONS(capacity, sizeof(struct message));
    options.wait.kind = wait;
    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &consumer));
    pthread_t thread;
    SPAWN(&thread, send_all, producer);
    annulus_spsc_consumer in;
    WORKS(annulus_spsc_consumer_open(&in, consumer));
    uint64_t next = 0;
    for (;;) {
        struct message message;
        annulus_status status;
        if (next % 5 == 0) {
            const void *messages;
            size_t count;
            status = annulus_spsc_readable(&in, ANNULUS_FOREVER, &messages, &count);
            for (size_t index = 0; index < count; index++) {
                CHECK(((const struct message *)messages)[index].number == next);
                CHECK(((const struct message *)messages)[index].thrice == 3 * next);
                next++;
            }
            WORKS(annulus_spsc_advance(&in, count));
        } else {
            status = annulus_spsc_recv(&in, &message, sizeof message);
            if (status == ANNULUS_OK) {
                CHECK(message.number == next && message.twice == 2 * next && message.thrice == 3 * next);
                next++;
            }
        }
        if (status != ANNULUS_OK) {
            RETURNS(ANNULUS_CLOSED, status);
            break;
        }
    }
    CHECK(next == MESSAGES);
    JOIN(thread);
    WORKS(annulus_spsc_consumer_end(&in));
    WORKS(annulus_consumer_free(consumer));
}

static void *publish_all(void *argument) {
    annulus_publisher *publisher = (annulus_publisher *)argument;
    annulus_lossy_publisher out;
    WORKS(annulus_lossy_publisher_open(&out, publisher));
    for (uint64_t number = 0; number < MESSAGES; number++) {
        struct message message = numbered(number);
        WORKS(annulus_lossy_publish(&out, &message, sizeof message));
    }
    WORKS(annulus_lossy_publisher_end(&out));
    WORKS(annulus_publisher_free(publisher));
    return NULL;
}

struct reader {
    annulus_subscriber *subscriber;
    pthread_t thread;
};

static void *receive_all(void *argument) {
    annulus_subscriber *subscriber = (annulus_subscriber *)argument;
    annulus_lossy_subscriber in;
    WORKS(annulus_lossy_subscriber_open(&in, subscriber));
    uint64_t received = 0, next = 0;
    struct message message;
    annulus_status status;
    while ((status = annulus_lossy_recv(&in, &message, sizeof message)) == ANNULUS_OK) {
        CHECK(message.number >= next && message.twice == 2 * message.number && message.thrice == 3 * message.number);
        next = message.number + 1;
        received++;
    }
    RETURNS(ANNULUS_CLOSED, status);
    WORKS(annulus_lossy_subscriber_end(&in));
    CHECK(annulus_subscriber_received(subscriber) == received);
    CHECK(received + annulus_subscriber_lagged(subscriber) == MESSAGES);
    WORKS(annulus_subscriber_free(subscriber));
    return NULL;
}

static void ring(size_t capacity) {
    annulus_options options = ANNULUS_OPTIONS(capacity, sizeof(struct message));
    annulus_publisher *publisher;
    annulus_subscribable *subscribable;
    WORKS(annulus_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
    struct reader readers[2];
    for (int index = 0; index < 2; index++) {
        WORKS(annulus_subscribable_subscribe(subscribable, false, &readers[index].subscriber));
        SPAWN(&readers[index].thread, receive_all, readers[index].subscriber);
    }
    publish_all(publisher);
    for (int index = 0; index < 2; index++) {
        JOIN(readers[index].thread);
    }
    WORKS(annulus_subscribable_free(subscribable));
}

/* A thread that sleeps is woken by a message, by room, and by a close. */
struct echo {
    annulus_consumer *ask;
    annulus_producer *answer;
};

static void *echo(void *argument) {
    struct echo *ends = (struct echo *)argument;
    annulus_spsc_consumer in;
    annulus_spsc_producer out;
    WORKS(annulus_spsc_consumer_open(&in, ends->ask));
    WORKS(annulus_spsc_producer_open(&out, ends->answer));
    uint64_t number;
    while (annulus_spsc_recv(&in, &number, sizeof number) == ANNULUS_OK) {
        number++;
        WORKS(annulus_spsc_send(&out, &number, sizeof number));
    }
    WORKS(annulus_spsc_consumer_end(&in));
    WORKS(annulus_spsc_producer_end(&out));
    WORKS(annulus_consumer_free(ends->ask));
    WORKS(annulus_producer_free(ends->answer));
    return NULL;
}

static void to_and_fro(void) {
    annulus_options options = ANNULUS_OPTIONS(1, sizeof(uint64_t));
    annulus_producer *ask;
    annulus_consumer *answer;
    struct echo ends;
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &ask, &ends.ask));
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &ends.answer, &answer));
    pthread_t thread;
    SPAWN(&thread, echo, &ends);
    annulus_spsc_producer out;
    annulus_spsc_consumer in;
    WORKS(annulus_spsc_producer_open(&out, ask));
    WORKS(annulus_spsc_consumer_open(&in, answer));
    for (uint64_t number = 0; number < 300; number++) {
        uint64_t back;
        WORKS(annulus_spsc_send(&out, &number, sizeof number));
        WORKS(annulus_spsc_recv(&in, &back, sizeof back));
        CHECK(back == number + 1);
    }
    WORKS(annulus_producer_close(ask)); /* the handle's own, beside its view */
    uint64_t number = 0;
    RETURNS(ANNULUS_CLOSED, annulus_spsc_try_send(&out, &number, sizeof number));
    RETURNS(ANNULUS_CLOSED, annulus_spsc_recv(&in, &number, sizeof number));
    WORKS(annulus_spsc_producer_end(&out));
    WORKS(annulus_spsc_consumer_end(&in));
    WORKS(annulus_producer_free(ask));
    WORKS(annulus_consumer_free(answer));
    JOIN(thread);
}

int main(void) {
    queue(64, ANNULUS_WAIT_BLOCK);
    queue(7, ANNULUS_WAIT_PAUSE_SPIN);
    queue(1, ANNULUS_WAIT_PAUSE_SPIN);
    ring(64);
    ring(2);
    to_and_fro();
    return 0;
}
