/* What rings between processes refuse, and what is said then. */
#include <annulus.h>
#include <string.h>

#include "check.h"

/* What does not fit is refused, with the values of both sides. */
static void mismatches(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(4, uint64_t, "one{a:u32,b:u32}");
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_producer *producer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_producer_new(&options, &producer, &invitation, &error));
    annulus_consumer *consumer;
    annulus_subscribable *subscribable;

    annulus_shared_options wanted = options;
    wanted.schema = "one{a:u32,b:f32}";
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(consumer == NULL && error.found == annulus_fingerprint(options.schema));
    CHECK(error.wanted == annulus_fingerprint("one { a: u32, b: f32 }"));
    CHECK(strstr(error.text, "b: u32 at 4 / b: f32 at 4") != NULL);

    /* Only the size is known. */
    wanted.schema = NULL;
    wanted.message_size = 16;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(error.found == 8 && error.wanted == 16);
    CHECK(strcmp(error.text, "the ring's messages have 8 bytes, and this type has 16") == 0);
    wanted.message_alignment = 16;
    wanted.message_size = 8;
    RETURNS(ANNULUS_WRONG_SIZE, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));

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

    wanted.message_alignment = 4; /* less than the ring's is no fault */
    WORKS(annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(error.found == 0 && error.text[0] == 0);
    WORKS(annulus_consumer_free(consumer)); /* closes the queue */

    /* A ring without a schema is for those that have none. */
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &wanted, &publisher, &to_lossy, NULL));
    WORKS(annulus_invitation_subscribable(to_lossy, &wanted, &subscribable, NULL));
    WORKS(annulus_subscribable_free(subscribable));
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_subscribable(to_lossy, &options, &subscribable, &error));
    CHECK(error.found == 0 && strstr(error.text, "has no schema") != NULL);
    WORKS(annulus_invitation_free(to_lossy));
    WORKS(annulus_publisher_free(publisher));

    /* What is no schema, or not of that size. */
    wanted = options;
    wanted.schema = "one{a:u32,b:u33}";
    RETURNS(ANNULUS_INVALID, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(strstr(error.text, "at byte 12 of the schema") != NULL && annulus_fingerprint(wanted.schema) == 0);
    wanted.schema = "one{a:u32,\xFF:u32}";
    RETURNS(ANNULUS_INVALID, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    wanted.schema = "one{a:u32}";
    RETURNS(ANNULUS_WRONG_SIZE, annulus_invitation_consumer(invitation, &wanted, &consumer, &error));
    CHECK(error.found == 4 && error.wanted == 8 && annulus_fingerprint(NULL) == 0);
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_producer_free(producer));

    /* What no ring is made of. */
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
            annulus_shared_publisher_new(ANNULUS_MPMC, &options, &publisher, &invitation, &error));
}

static void misuse(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(4, uint64_t, "one{a:u32,b:u32}");
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
