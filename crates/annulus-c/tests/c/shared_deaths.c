/* What each side of a ring is told when the process at the other one is killed. */
#include "two_processes.h"

static void produce_and_die(size_t size) {
    annulus_producer *producer = new_producer(size, 0);
    send_numbers(producer, size, 3);
    void *slots; /* is written, but never committed */
    size_t count;
    WORKS(annulus_producer_reserve(producer, 1, ANNULUS_FOREVER, &slots, &count));
    memset(slots, 77, size);
    kill(getpid(), SIGKILL);
}

static void publish_and_die(size_t size) {
    annulus_publisher *publisher = new_publisher(ANNULUS_LOSSY, size);
    listen_for();
    publish_numbers(publisher, size, 3);
    kill(getpid(), SIGKILL);
}

static void consume_one_and_die(size_t size) {
    annulus_consumer *consumer = joined(size);
    WORKS(annulus_consumer_recv(consumer, message, size));
    is_number(message, size, 0);
    kill(getpid(), SIGKILL);
}

/* The process that is left gets what was committed, and is told then. */
static void deaths(size_t size) {
    annulus_peer peer;

    in_child(produce_and_die, size);
    annulus_consumer *consumer = joined(size);
    for (uint64_t number = 0; number < 3; number++) {
        WORKS(annulus_consumer_recv(consumer, message, size));
        is_number(message, size, number);
    }
    RETURNS(ANNULUS_PEER_DIED, annulus_consumer_recv(consumer, message, size));
    RETURNS(ANNULUS_PEER_DIED, annulus_consumer_try_recv(consumer, message, size));
    WORKS(annulus_consumer_peer(consumer, &peer));
    CHECK(peer == ANNULUS_PEER_DEAD);
    WORKS(annulus_consumer_free(consumer));
    ends_by(SIGKILL);

    in_child(publish_and_die, size);
    annulus_subscriber *subscriber = subscribed(size);
    WORKS(annulus_subscriber_peer(subscriber, &peer));
    CHECK(peer == ANNULUS_PEER_ALIVE);
    tell();
    recv_numbers(subscriber, size, 3);
    RETURNS(ANNULUS_PEER_DIED, annulus_subscriber_recv(subscriber, message, size));
    WORKS(annulus_subscriber_free(subscriber));
    ends_by(SIGKILL);

    in_child(consume_one_and_die, size);
    annulus_producer *producer = new_producer(size, 0);
    annulus_status status = ANNULUS_OK;
    uint64_t sent = 0;
    for (; status == ANNULUS_OK; sent++) {
        fill(message, size, sent);
        status = annulus_producer_send(producer, message, size);
    }
    CHECK(status == ANNULUS_PEER_DIED && sent >= CAPACITY);
    WORKS(annulus_producer_peer(producer, &peer));
    CHECK(peer == ANNULUS_PEER_DEAD);
    WORKS(annulus_producer_free(producer));
    ends_by(SIGKILL);
}

/* The next consumer goes on behind what was received. */
static void a_next_consumer(size_t size) {
    in_child(consume_one_and_die, size);
    annulus_shared_options options = options_of(size);
    options.flags = ANNULUS_WAIT_FOR_NEXT_CONSUMER;
    annulus_producer *producer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_producer_new(&options, &producer, &invitation, NULL));
    annulus_peer peer;
    WORKS(annulus_producer_peer(producer, &peer));
    CHECK(peer == ANNULUS_PEER_NONE);
    WORKS(annulus_invitation_send(invitation, other));
    send_numbers(producer, size, CAPACITY);
    ends_by(SIGKILL);

    annulus_consumer *consumer, *another;
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    options.flags = 0;
    WORKS(annulus_invitation_consumer(invitation, &options, &consumer, NULL));
    RETURNS(ANNULUS_OCCUPIED, annulus_invitation_consumer(invitation, &options, &another, &error));
    CHECK(another == NULL && strstr(error.text, "one consumer") != NULL);
    for (uint64_t number = 1; number < CAPACITY; number++) {
        WORKS(annulus_consumer_try_recv(consumer, message, size));
        is_number(message, size, number);
    }
    RETURNS(ANNULUS_EMPTY, annulus_consumer_try_recv(consumer, message, size));
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_consumer_free(consumer));
    RETURNS(ANNULUS_CLOSED, annulus_producer_send(producer, message, size));
    WORKS(annulus_producer_free(producer));
}

int main(void) {
    deaths(12);
    deaths(200);
    a_next_consumer(24);
    return 0;
}
