/* A consumer in a worker: epoll tells of messages and of the end. */
#include <annulus.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "check.h"

enum { MESSAGES = 2000 };

static void *produce(void *argument) {
    annulus_producer *producer = (annulus_producer *)argument;
    for (uint64_t number = 0; number < MESSAGES; number++) {
        WORKS(annulus_producer_send(producer, &number, sizeof number));
    }
    WORKS(annulus_producer_free(producer));
    return NULL;
}

static void run(uint32_t kind) {
    annulus_options options = ANNULUS_OPTIONS(16, sizeof(uint64_t));
    annulus_producer *producer;
    annulus_consumer *consumer;
    WORKS(annulus_queue_new(kind, &options, &producer, &consumer));

    bool ready;
    RETURNS(ANNULUS_INVALID, annulus_consumer_arm(consumer, &ready)); /* there is no descriptor yet */
    int fd, again;
    WORKS(annulus_consumer_fd(consumer, &fd));
    WORKS(annulus_consumer_fd(consumer, &again));
    CHECK(fd >= 0 && again == fd);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {EPOLLIN, {NULL}};
    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);

    WORKS(annulus_consumer_arm(consumer, &ready));
    CHECK(!ready);
    CHECK(epoll_wait(epoll, &event, 1, 0) == 0); /* nothing is there */

    pthread_t thread;
    SPAWN(&thread, produce, producer);
    uint64_t next = 0;
    annulus_status status = ANNULUS_EMPTY;
    while (status != ANNULUS_CLOSED) {
        WORKS(annulus_consumer_arm(consumer, &ready));
        if (!ready) {
            CHECK(epoll_wait(epoll, &event, 1, 60000) == 1);
        }
        uint64_t number;
        while ((status = annulus_consumer_try_recv(consumer, &number, sizeof number)) == ANNULUS_OK) {
            CHECK(number == next++);
        }
        CHECK(status == ANNULUS_EMPTY || status == ANNULUS_CLOSED);
    }
    CHECK(next == MESSAGES);
    JOIN(thread);
    WORKS(annulus_consumer_free(consumer));
    CHECK(close(epoll) == 0);
}

int main(void) {
    for (uint32_t kind = ANNULUS_SPSC; kind <= ANNULUS_ORDERED; kind++) {
        run(kind);
    }
    return 0;
}
