/* What rings between processes refuse, and what is said then. */
#include <annulus.h>
#include <string.h>

#include "check.h"

/* What does not fit is refused, with the values of both sides. */
static void mismatches(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(4, uint64_t, "one");
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_producer *producer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_producer_new(&options, &producer, &invitation, &error));
    annulus_consumer *consumer;
    annulus_subscribable *subscribable;

    annulus_shared_options wanted = options;
    wanted.message_size = 16;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(consumer == NULL && error.found == 8 && error.wanted == 16);
    CHECK(strcmp(error.text, "the ring's messages have 8 bytes, and this type has 16") == 0);

    wanted = options;
    wanted.message_alignment = 4;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(error.found == 8 && error.wanted == 4);

    wanted = options;
    wanted.type_name = "another";
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(error.found == annulus_fingerprint(8, 8, "one"));
    CHECK(error.wanted == annulus_fingerprint(8, 8, "another"));

    RETURNS(ANNULUS_MISMATCH, annulus_invitation_subscribable(invitation, &options, &subscribable, &error));
    CHECK(error.found == ANNULUS_SPSC && error.wanted == ANNULUS_LOSSY);
    annulus_publisher *publisher;
    annulus_invitation *to_lossy;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &to_lossy, NULL));
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_consumer(to_lossy, &options, &consumer, &error));
    CHECK(error.found == ANNULUS_LOSSY && error.wanted == ANNULUS_SPSC);
    annulus_producer *another;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_producer(to_lossy, &options, &another, &error));
    CHECK(another == NULL && error.found == ANNULUS_LOSSY && error.wanted == ANNULUS_MPSC);
    WORKS(annulus_invitation_free(to_lossy));
    WORKS(annulus_publisher_free(publisher));

    /* By its number, or of any type. */
    wanted.type_name = NULL;
    wanted.fingerprint = annulus_fingerprint(8, 8, "one");
    WORKS(annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(error.found == 0 && error.text[0] == 0);
    WORKS(annulus_consumer_free(consumer)); /* closes the queue */
    wanted.fingerprint = 0;
    WORKS(annulus_invitation_consumer(invitation, &wanted, &consumer, NULL));
    WORKS(annulus_consumer_free(consumer));
    RETURNS(ANNULUS_INVALID, annulus_shared_producer_new(&wanted, &producer, &invitation, &error));
    CHECK(producer == NULL && invitation == NULL && strstr(error.text, "needs a name") != NULL);

    wanted = options;
    wanted.message_alignment = 3;
    RETURNS(ANNULUS_WRONG_SIZE, annulus_shared_producer_new(&wanted, &producer, &invitation, &error));
    wanted = options;
    wanted.message_size = 12; /* is no multiple of 8 */
    RETURNS(ANNULUS_WRONG_SIZE, annulus_shared_producer_new(&wanted, &producer, &invitation, &error));
    CHECK(error.found == 12 && error.wanted == 8);
    wanted = options;
    wanted.message_size = ANNULUS_MESSAGE_MAX + 8;
    RETURNS(ANNULUS_WRONG_SIZE,
            annulus_shared_publisher_new(ANNULUS_LOSSY, &wanted, &publisher, &invitation, &error));
    RETURNS(ANNULUS_INVALID,
            annulus_shared_publisher_new(ANNULUS_MP_LOSSLESS, &options, &publisher, &invitation, &error));
}

static void misuse(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(4, uint64_t, "one");
    annulus_producer *producer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_producer_new(&options, &producer, &invitation, NULL));
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    error.size--;
    annulus_consumer *consumer;
    RETURNS(ANNULUS_INVALID, annulus_invitation_consumer(invitation, &options, &consumer, &error));
    options.size--;
    RETURNS(ANNULUS_INVALID, annulus_invitation_consumer(invitation, &options, &consumer, NULL));
    options.size++;
    RETURNS(ANNULUS_INVALID, annulus_invitation_consumer(invitation, &options, NULL, NULL));
    RETURNS(ANNULUS_INVALID, annulus_invitation_consumer(NULL, &options, &consumer, NULL));
    RETURNS(ANNULUS_NOT_A_HANDLE,
            annulus_invitation_consumer((annulus_invitation *)(void *)producer, &options, &consumer, NULL));
    RETURNS(ANNULUS_INVALID, annulus_invitation_send(invitation, -1));
    int pair[2];
    CHECK(pipe(pair) == 0);
    RETURNS(ANNULUS_SYSTEM, annulus_invitation_send(invitation, pair[1]));
    annulus_invitation *none;
    RETURNS(ANNULUS_SYSTEM, annulus_invitation_receive(pair[0], &none));
    CHECK(none == NULL && close(pair[0]) == 0 && close(pair[1]) == 0);
    annulus_producer *another;
    RETURNS(ANNULUS_UNSUPPORTED, annulus_producer_clone(producer, &another));
    WORKS(annulus_invitation_free(invitation));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_invitation_free(invitation));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_invitation_consumer(invitation, &options, &consumer, NULL));
    WORKS(annulus_producer_free(producer));

    annulus_options local = ANNULUS_OPTIONS(4, 8);
    WORKS(annulus_queue_new(ANNULUS_SPSC, &local, &producer, &consumer));
    annulus_peer peer;
    RETURNS(ANNULUS_UNSUPPORTED, annulus_producer_peer(producer, &peer));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_consumer_free(consumer));
}

int main(void) {
    mismatches();
    misuse();
    return 0;
}
