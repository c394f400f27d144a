/* Two processes with a ring between them, and messages of any size. Each child is forked before its ring is
   made. */
#ifndef TWO_PROCESSES_H
#define TWO_PROCESSES_H

#include <annulus.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "check.h"

enum { CAPACITY = 7, MESSAGES = 500, LARGEST = 4096 };

/* The socket to the other process, and the process. */
static int other;
static pid_t child;

/* What is sent, or was received. */
static unsigned char message[LARGEST];

/* Runs `work` in a child, which then ends. */
static inline void in_child(void (*work)(size_t), size_t size) {
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    child = fork();
    CHECK(child >= 0);
    other = pair[child == 0];
    CHECK(close(pair[child != 0]) == 0);
    if (child == 0) {
        alarm(240);
        work(size);
        exit(0);
    }
}

static inline void ends_by(int signal_number) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(signal_number == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                             : WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
    CHECK(close(other) == 0);
}

static inline void tell(void) {
    CHECK(write(other, "!", 1) == 1);
}

static inline void listen_for(void) {
    char byte;
    CHECK(read(other, &byte, 1) == 1);
}

static inline annulus_shared_options options_of(size_t size) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(CAPACITY, char, NULL);
    options.message_size = size;
    return options;
}

static inline void fill(unsigned char *bytes, size_t size, uint64_t number) {
    for (size_t at = 0; at < size; at++) {
        bytes[at] = (unsigned char)(number * 31 + at);
    }
}

static inline void is_number(const unsigned char *bytes, size_t size, uint64_t number) {
    for (size_t at = 0; at < size; at++) {
        CHECK(bytes[at] == (unsigned char)(number * 31 + at));
    }
}

/* The first `count` numbers, as messages of this size. */
static inline void publish_numbers(annulus_publisher *publisher, size_t size, uint64_t count) {
    for (uint64_t number = 0; number < count; number++) {
        fill(message, size, number);
        WORKS(annulus_publisher_publish(publisher, message, size));
    }
}

static inline void send_numbers(annulus_producer *producer, size_t size, uint64_t count) {
    for (uint64_t number = 0; number < count; number++) {
        fill(message, size, number);
        WORKS(annulus_producer_send(producer, message, size));
    }
}

static inline void recv_numbers(annulus_subscriber *subscriber, size_t size, uint64_t count) {
    for (uint64_t number = 0; number < count; number++) {
        WORKS(annulus_subscriber_recv(subscriber, message, size));
        is_number(message, size, number);
    }
}

static inline annulus_invitation *received(void) {
    annulus_invitation *invitation;
    WORKS(annulus_invitation_receive(other, &invitation));
    return invitation;
}

static inline void sends(annulus_invitation *invitation) {
    WORKS(annulus_invitation_send(invitation, other));
    WORKS(annulus_invitation_free(invitation));
}

static inline annulus_consumer *joined(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_invitation *invitation = received();
    annulus_consumer *consumer;
    WORKS(annulus_invitation_consumer(invitation, &options, &consumer, &error));
    CHECK(error.text[0] == 0);
    WORKS(annulus_invitation_free(invitation));
    return consumer;
}

static inline annulus_producer *new_producer(size_t size, uint32_t flags) {
    annulus_shared_options options = options_of(size);
    options.flags = flags;
    annulus_producer *producer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_producer_new(&options, &producer, &invitation, NULL));
    sends(invitation);
    return producer;
}

static inline annulus_subscriber *subscribed(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_invitation *invitation = received();
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber;
    WORKS(annulus_invitation_subscribable(invitation, &options, &subscribable, NULL));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
    WORKS(annulus_subscribable_free(subscribable));
    WORKS(annulus_invitation_free(invitation));
    return subscriber;
}

static inline annulus_publisher *new_publisher(uint32_t kind, size_t size) {
    annulus_shared_options options = options_of(size);
    options.capacity = MESSAGES;
    options.flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER;
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    WORKS(annulus_shared_publisher_new(kind, &options, &publisher, &invitation, NULL));
    sends(invitation);
    return publisher;
}

#endif
