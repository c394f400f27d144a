/* Queues of records between two processes: through a socket and by a name, copied and in place, with a death. */
#include "two_processes.h"

enum { BYTES = 256 };

/* Of each length that there can be. */
static size_t length_of(uint64_t number) {
    return (size_t)(number * 37 % (BYTES / 2 + 1));
}

static annulus_bytes_consumer *joined_records(annulus_invitation *invitation) {
    annulus_shared_options options = ANNULUS_SHARED_BYTES_OPTIONS(0);
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_bytes_consumer *consumer, *another;
    WORKS(annulus_invitation_bytes_consumer(invitation, &options, &consumer, &error));
    CHECK(error.text[0] == 0 && annulus_bytes_consumer_capacity(consumer) == BYTES);
    RETURNS(ANNULUS_OCCUPIED, annulus_invitation_bytes_consumer(invitation, &options, &another, &error));
    CHECK(another == NULL && error.text[0] != 0);
    WORKS(annulus_invitation_free(invitation));
    return consumer;
}

static void receive(annulus_bytes_consumer *consumer, uint64_t count, annulus_status end) {
    size_t length;
    for (uint64_t number = 0; number < count; number++) {
        if (number % 2 == 0) {
            WORKS(annulus_bytes_consumer_recv(consumer, message, sizeof message, &length));
            is_number(message, length, number);
        } else {
            const void *record;
            WORKS(annulus_bytes_consumer_readable(consumer, ANNULUS_FOREVER, &record, &length));
            is_number((const unsigned char *)record, length, number);
            WORKS(annulus_bytes_consumer_advance(consumer));
        }
        CHECK(length == length_of(number));
    }
    RETURNS(end, annulus_bytes_consumer_recv(consumer, message, sizeof message, &length));
    annulus_peer peer;
    WORKS(annulus_bytes_consumer_peer(consumer, &peer));
    CHECK(peer == (end == ANNULUS_CLOSED ? ANNULUS_PEER_CLOSED : ANNULUS_PEER_DEAD));
    WORKS(annulus_bytes_consumer_free(consumer));
}

static annulus_bytes_producer *new_records(annulus_invitation **invitation) {
    annulus_shared_options options = ANNULUS_SHARED_BYTES_OPTIONS(BYTES);
    annulus_bytes_producer *producer;
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    WORKS(annulus_shared_bytes_producer_new(&options, &producer, invitation, &error));
    annulus_peer peer;
    WORKS(annulus_bytes_producer_peer(producer, &peer));
    CHECK(peer == ANNULUS_PEER_NONE);

    /* A record is made of bytes, and is no message of another ring. */
    annulus_bytes_producer *none;
    annulus_invitation *no_invitation;
    options.schema = "u8";
    RETURNS(ANNULUS_INVALID, annulus_shared_bytes_producer_new(&options, &none, &no_invitation, &error));
    options.schema = NULL;
    options.message_size = 8;
    RETURNS(ANNULUS_WRONG_SIZE, annulus_shared_bytes_producer_new(&options, &none, &no_invitation, &error));
    CHECK(none == NULL && no_invitation == NULL && error.found == 8);
    annulus_consumer *consumer;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_consumer(*invitation, &options, &consumer, &error));
    CHECK(error.found == ANNULUS_BYTES && error.wanted == ANNULUS_SPSC);
    return producer;
}

static void send_records(annulus_bytes_producer *producer, uint64_t count) {
    for (uint64_t number = 0; number < count; number++) {
        if (number % 3 == 0) {
            void *bytes;
            WORKS(annulus_bytes_producer_reserve(producer, BYTES / 2, ANNULUS_FOREVER, &bytes));
            fill((unsigned char *)bytes, length_of(number), number);
            WORKS(annulus_bytes_producer_commit(producer, length_of(number)));
        } else {
            fill(message, length_of(number), number);
            WORKS(annulus_bytes_producer_send(producer, message, length_of(number)));
        }
    }
}

/* The child's. */
static void produce(size_t count) {
    annulus_invitation *invitation;
    annulus_bytes_producer *producer = new_records(&invitation);
    sends(invitation);
    send_records(producer, count);
    if (count < MESSAGES) {
        void *bytes; /* one more, which is never committed */
        WORKS(annulus_bytes_producer_reserve(producer, 5, ANNULUS_FOREVER, &bytes));
        kill(getpid(), SIGKILL);
    }
    WORKS(annulus_bytes_producer_free(producer));
}

static char directory[] = "/tmp/annulus-records-XXXXXX";

/* The child's, which finds the ring by its name. */
static void find(size_t size) {
    (void)size;
    annulus_invitation *invitation;
    WORKS(annulus_invitation_find(directory, "records", ANNULUS_FOREVER, &invitation, NULL));
    receive(joined_records(invitation), MESSAGES, ANNULUS_CLOSED);
}

/* The other process writes another length while a record is shown: the record that was shown is received, and no other number of words. */
static void keeps_to_what_was_shown(uint64_t length_later) {
    annulus_invitation *invitation;
    annulus_bytes_producer *producer = new_records(&invitation);
    annulus_bytes_consumer *consumer = joined_records(invitation);
    send_records(producer, 3);
    size_t length;
    for (uint64_t number = 0; number < 3; number++) {
        const void *record;
        WORKS(annulus_bytes_consumer_readable(consumer, 0, &record, &length));
        CHECK(length == length_of(number));
        is_number((const unsigned char *)record, length, number);
        ((uint64_t *)(uintptr_t)record)[-1] = length_later;
        WORKS(annulus_bytes_consumer_advance(consumer));
    }
    RETURNS(ANNULUS_EMPTY, annulus_bytes_consumer_try_recv(consumer, message, sizeof message, &length));
    WORKS(annulus_bytes_producer_free(producer));
    WORKS(annulus_bytes_consumer_free(consumer));
}

int main(void) {
    keeps_to_what_was_shown(1);
    keeps_to_what_was_shown(60);
    keeps_to_what_was_shown(UINT64_MAX);

    in_child(produce, MESSAGES);
    receive(joined_records(received()), MESSAGES, ANNULUS_CLOSED);
    ends_by(0);

    in_child(produce, 20);
    receive(joined_records(received()), 20, ANNULUS_PEER_DIED);
    ends_by(SIGKILL);

    CHECK(mkdtemp(directory) != NULL);
    in_child(find, 0);
    annulus_invitation *invitation;
    annulus_name *name;
    annulus_bytes_producer *producer = new_records(&invitation);
    WORKS(annulus_invitation_publish(invitation, directory, "records", &name, NULL));
    send_records(producer, MESSAGES);
    WORKS(annulus_bytes_producer_free(producer));
    ends_by(0);
    WORKS(annulus_name_free(name));
    WORKS(annulus_invitation_free(invitation));
    char command[64] = "rm -r ";
    strcat(command, directory);
    CHECK(system(command) == 0);
    return 0;
}
