/* A publisher that has promised not to be silent, and hangs; and the numbers of a name, which go on. */
#include "two_processes.h"

enum { SIZE = 16, DEADLINE_NS = 1000000 };

/* The child's: publishes once, and then only when it is told to. */
static void hang(size_t kind) {
    annulus_shared_options options = options_of(SIZE);
    options.deadline_ns = DEADLINE_NS;
    options.flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER;
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    WORKS(annulus_shared_publisher_new((uint32_t)kind, &options, &publisher, &invitation, NULL));
    sends(invitation);
    listen_for();
    publish_numbers(publisher, SIZE, 1);
    listen_for();
    publish_numbers(publisher, SIZE, 1);
    listen_for();
    kill(getpid(), SIGKILL);
}

static void silent_publisher(uint32_t kind) {
    in_child(hang, kind);
    annulus_subscriber *subscriber = subscribed(SIZE);
    CHECK(annulus_subscriber_deadline(subscriber) == DEADLINE_NS);
    CHECK(annulus_subscriber_overdue(subscriber) == 0);
    tell();
    for (int life = 0; life < 2; life++) {
        WORKS(annulus_subscriber_recv(subscriber, message, SIZE));
        is_number(message, SIZE, 0);
        RETURNS(ANNULUS_TIMEOUT, annulus_subscriber_recv_timeout(subscriber, message, SIZE, DEADLINE_NS));
        CHECK(annulus_subscriber_overdue(subscriber) >= DEADLINE_NS);
        RETURNS(ANNULUS_EMPTY, annulus_subscriber_try_recv(subscriber, message, SIZE));
        CHECK(annulus_subscriber_overdue(subscriber) >= DEADLINE_NS);
        tell();
    }
    /* One that has died does not hang: the end is received. */
    RETURNS(ANNULUS_PEER_DIED, annulus_subscriber_recv(subscriber, message, SIZE));
    CHECK(annulus_subscriber_overdue(subscriber) == 0);
    WORKS(annulus_subscriber_free(subscriber));
    ends_by(SIGKILL);
}

/* By what the subscriber says, whatever was promised. */
static void own_deadline(void) {
    annulus_shared_options options = options_of(SIZE);
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, NULL));
    for (uint64_t deadline = 0; deadline <= DEADLINE_NS; deadline += DEADLINE_NS) {
        options.deadline_ns = deadline;
        WORKS(annulus_invitation_subscribable(invitation, &options, &subscribable, NULL));
        WORKS(annulus_subscribable_subscribe(subscribable, false, &subscriber));
        CHECK(annulus_subscriber_deadline(subscriber) == deadline);
        RETURNS(ANNULUS_TIMEOUT, annulus_subscriber_recv_timeout(subscriber, message, SIZE, DEADLINE_NS));
        CHECK((annulus_subscriber_overdue(subscriber) > 0) == (deadline > 0));
        WORKS(annulus_subscriber_free(subscriber));
        WORKS(annulus_subscribable_free(subscribable));
    }
    WORKS(annulus_publisher_free(publisher));
    WORKS(annulus_invitation_free(invitation));
    CHECK(annulus_subscriber_deadline(NULL) == 0 && annulus_subscriber_overdue(NULL) == 0);
}

/* Each life of a publisher goes on with the numbers of the one before. */
static void numbers_go_on(const char *directory) {
    annulus_shared_options options = options_of(SIZE);
    options.numbering = "prices";
    options.numbering_directory = directory;
    for (uint64_t life = 0; life < 4; life++) {
        annulus_publisher *publisher, *another;
        annulus_invitation *invitation, *none;
        uint32_t kind = life % 2 ? ANNULUS_LOSSLESS : ANNULUS_LOSSY;
        WORKS(annulus_shared_publisher_new(kind, &options, &publisher, &invitation, NULL));
        annulus_shared_error error = ANNULUS_SHARED_ERROR;
        RETURNS(ANNULUS_OCCUPIED, annulus_shared_publisher_new(kind, &options, &another, &none, &error));
        annulus_subscribable *subscribable;
        annulus_subscriber *subscriber;
        WORKS(annulus_invitation_subscribable(invitation, &options, &subscribable, NULL));
        WORKS(annulus_subscribable_subscribe(subscribable, true, &subscriber));
        CHECK(annulus_subscriber_cursor(subscriber) == 3 * life);
        publish_numbers(publisher, SIZE, 3);
        recv_numbers(subscriber, SIZE, 3);
        CHECK(annulus_subscriber_cursor(subscriber) == 3 * life + 3);
        WORKS(annulus_subscriber_free(subscriber));
        WORKS(annulus_subscribable_free(subscribable));
        WORKS(annulus_publisher_free(publisher));
        WORKS(annulus_invitation_free(invitation));
    }
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    RETURNS(ANNULUS_INVALID, annulus_shared_publisher_new(ANNULUS_MP_LOSSY, &options, &publisher, &invitation, &error));
    CHECK(strstr(error.text, "numbering has to be null") != NULL);
    options.numbering = "no/name";
    RETURNS(ANNULUS_INVALID, annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, &error));
}

int main(void) {
    silent_publisher(ANNULUS_LOSSY);
    silent_publisher(ANNULUS_LOSSLESS);
    silent_publisher(ANNULUS_MP_LOSSY);
    silent_publisher(ANNULUS_MP_LOSSLESS);
    own_deadline();
    char directory[] = "/dev/shm/annulus-c-numbers-XXXXXX";
    CHECK(mkdtemp(directory) != NULL);
    numbers_go_on(directory);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    CHECK(system(command) == 0);
    return 0;
}
