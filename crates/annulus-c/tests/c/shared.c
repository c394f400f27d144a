/* Rings between two processes: messages of any size, what each side is told when the other one ends, and what
   is refused. Each child is forked before its ring is made. */
#include <annulus.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "check.h"

enum { CAPACITY = 7, MESSAGES = 500, LARGEST = 4096 };

static const size_t SIZES[] = {1, 12, 24, 200, 255, 256, 4096};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* The socket to the other process, and the process. */
static int other;
static pid_t child;

/* Runs `work` in a child, which then ends. */
static void in_child(void (*work)(size_t), size_t size) {
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

static void ends_by(int signal_number) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(signal_number == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                             : WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
    CHECK(close(other) == 0);
}

static void tell(void) {
    CHECK(write(other, "!", 1) == 1);
}

static void listen_for(void) {
    char byte;
    CHECK(read(other, &byte, 1) == 1);
}

static annulus_shared_options options_of(size_t size) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(CAPACITY, char, "a message");
    options.message_size = size;
    return options;
}

static void fill(unsigned char *message, size_t size, uint64_t number) {
    for (size_t at = 0; at < size; at++) {
        message[at] = (unsigned char)(number * 31 + at);
    }
}

static void is_number(const unsigned char *message, size_t size, uint64_t number) {
    for (size_t at = 0; at < size; at++) {
        CHECK(message[at] == (unsigned char)(number * 31 + at));
    }
}

static annulus_invitation *received(void) {
    annulus_invitation *invitation;
    WORKS(annulus_invitation_receive(other, &invitation));
    return invitation;
}

static void sends(annulus_invitation *invitation) {
    WORKS(annulus_invitation_send(invitation, other));
    WORKS(annulus_invitation_free(invitation));
}

static annulus_consumer *joined(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_invitation *invitation = received();
    annulus_consumer *consumer;
    WORKS(annulus_invitation_consumer(invitation, &options, &consumer, &error));
    CHECK(error.text[0] == 0);
    WORKS(annulus_invitation_free(invitation));
    return consumer;
}

/* By each verb in turn. */
static void receive_all(annulus_consumer *consumer, size_t size, annulus_status end) {
    unsigned char *messages = (unsigned char *)malloc(3 * size);
    uint64_t next = 0;
    annulus_status status = ANNULUS_OK;
    while (status != end) {
        size_t count = 0;
        switch (next % 3) {
        case 0:
            status = annulus_consumer_recv(consumer, messages, size);
            count = status == ANNULUS_OK;
            break;
        case 1:
            status = annulus_consumer_try_recv_batch(consumer, messages, 3, size, &count);
            break;
        default: {
            const void *there;
            status = annulus_consumer_readable(consumer, ANNULUS_FOREVER, &there, &count);
            if (status == ANNULUS_OK) {
                CHECK(annulus_consumer_stride(consumer) == size);
                count = count < 3 ? count : 3;
                memcpy(messages, there, count * size);
                WORKS(annulus_consumer_advance(consumer, count));
            }
        }
        }
        if (status != ANNULUS_OK) {
            CHECK(status == end || status == ANNULUS_EMPTY);
            continue;
        }
        for (size_t at = 0; at < count; at++) {
            is_number(messages + at * size, size, next++);
        }
    }
    CHECK(next == MESSAGES);
    free(messages);
}

static void consume(size_t size) {
    annulus_consumer *consumer = joined(size);
    CHECK(annulus_consumer_capacity(consumer) == CAPACITY);
    receive_all(consumer, size, ANNULUS_CLOSED);
    annulus_peer peer;
    WORKS(annulus_consumer_peer(consumer, &peer));
    CHECK(peer == ANNULUS_PEER_CLOSED);
    WORKS(annulus_consumer_free(consumer));
}

static annulus_producer *new_producer(size_t size, uint32_t flags) {
    annulus_shared_options options = options_of(size);
    options.flags = flags;
    annulus_producer *producer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_producer_new(&options, &producer, &invitation, NULL));
    sends(invitation);
    return producer;
}

/* By each verb in turn. */
static void send_all(annulus_producer *producer, size_t size) {
    unsigned char *messages = (unsigned char *)malloc(3 * size);
    for (uint64_t number = 0; number < MESSAGES;) {
        size_t count = MESSAGES - number < 3 ? (size_t)(MESSAGES - number) : 3;
        for (size_t at = 0; at < count; at++) {
            fill(messages + at * size, size, number + at);
        }
        size_t sent = 0;
        annulus_status status = ANNULUS_OK;
        if (number % 3 == 0) {
            status = annulus_producer_send(producer, messages, size);
            sent = 1;
        } else if (number % 3 == 1) {
            status = annulus_producer_try_send_batch(producer, messages, count, size, &sent);
        } else {
            void *slots;
            status = annulus_producer_reserve(producer, count, ANNULUS_FOREVER, &slots, &sent);
            if (status == ANNULUS_OK) {
                memcpy(slots, messages, sent * size);
                status = annulus_producer_commit(producer, sent);
            }
        }
        CHECK(status == ANNULUS_OK || status == ANNULUS_FULL);
        number += status == ANNULUS_OK ? sent : 0;
    }
    free(messages);
}

static void a_queue(size_t size) {
    in_child(consume, size);
    annulus_producer *producer = new_producer(size, 0);
    send_all(producer, size);
    WORKS(annulus_producer_free(producer));
    ends_by(0);
}

static annulus_subscriber *subscribed(size_t size) {
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

static void subscribe(size_t size) {
    annulus_subscriber *subscriber = subscribed(size);
    tell();
    unsigned char message[LARGEST];
    for (uint64_t next = 0; next < MESSAGES; next++) {
        WORKS(annulus_subscriber_recv(subscriber, message, size));
        is_number(message, size, next);
    }
    annulus_stats stats;
    stats.size = sizeof stats;
    WORKS(annulus_subscriber_stats(subscriber, &stats));
    CHECK(stats.capacity == MESSAGES);
    RETURNS(ANNULUS_CLOSED, annulus_subscriber_recv(subscriber, message, size));
    CHECK(annulus_subscriber_lagged(subscriber) == 0);
    WORKS(annulus_subscriber_free(subscriber));
}

static annulus_publisher *new_publisher(uint32_t kind, size_t size) {
    annulus_shared_options options = options_of(size);
    options.capacity = MESSAGES;
    options.flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER;
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    WORKS(annulus_shared_publisher_new(kind, &options, &publisher, &invitation, NULL));
    sends(invitation);
    return publisher;
}

static void a_broadcast_ring(uint32_t kind, size_t size) {
    in_child(subscribe, size);
    annulus_publisher *publisher = new_publisher(kind, size);
    listen_for();
    unsigned char message[LARGEST];
    for (uint64_t number = 0; number < MESSAGES; number++) {
        fill(message, size, number);
        WORKS(annulus_publisher_publish(publisher, message, size));
    }
    WORKS(annulus_publisher_free(publisher));
    ends_by(0);
}

static void produce_to_many(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_invitation *invitation = received();
    annulus_producer *producer;
    WORKS(annulus_invitation_producer(invitation, &options, &producer, NULL));
    WORKS(annulus_invitation_free(invitation));
    send_all(producer, size);
    WORKS(annulus_producer_free(producer));
}

static void a_queue_of_several(size_t size) {
    in_child(produce_to_many, size);
    annulus_shared_options options = options_of(size);
    options.flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER;
    annulus_consumer *consumer;
    annulus_invitation *invitation;
    WORKS(annulus_shared_consumer_new(&options, &consumer, &invitation, NULL));
    sends(invitation);
    receive_all(consumer, size, ANNULUS_CLOSED);
    WORKS(annulus_consumer_free(consumer));
    ends_by(0);
}

static void produce_and_die(size_t size) {
    annulus_producer *producer = new_producer(size, 0);
    unsigned char message[LARGEST];
    for (uint64_t number = 0; number < 3; number++) {
        fill(message, size, number);
        WORKS(annulus_producer_send(producer, message, size));
    }
    void *slots; /* is written, but never committed */
    size_t count;
    WORKS(annulus_producer_reserve(producer, 1, ANNULUS_FOREVER, &slots, &count));
    memset(slots, 77, size);
    kill(getpid(), SIGKILL);
}

static void publish_and_die(size_t size) {
    annulus_publisher *publisher = new_publisher(ANNULUS_LOSSY, size);
    listen_for();
    unsigned char message[LARGEST];
    for (uint64_t number = 0; number < 3; number++) {
        fill(message, size, number);
        WORKS(annulus_publisher_publish(publisher, message, size));
    }
    kill(getpid(), SIGKILL);
}

static void consume_one_and_die(size_t size) {
    annulus_consumer *consumer = joined(size);
    unsigned char message[LARGEST];
    WORKS(annulus_consumer_recv(consumer, message, size));
    is_number(message, size, 0);
    kill(getpid(), SIGKILL);
}

/* Whoever is left gets what was committed, and is told then. */
static void deaths(size_t size) {
    unsigned char message[LARGEST];
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
    for (uint64_t number = 0; number < 3; number++) {
        WORKS(annulus_subscriber_recv(subscriber, message, size));
        is_number(message, size, number);
    }
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
    unsigned char message[LARGEST];
    for (uint64_t number = 0; number < CAPACITY; number++) {
        fill(message, size, number);
        WORKS(annulus_producer_send(producer, message, size));
    }
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

static char folder[] = "/tmp/annulus-names-XXXXXX";

static void find(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_invitation *invitation;
    WORKS(annulus_invitation_find(folder, "quotes", ANNULUS_FOREVER, &invitation, NULL));
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber;
    WORKS(annulus_invitation_subscribable(invitation, &options, &subscribable, NULL));
    WORKS(annulus_subscribable_subscribe(subscribable, true, &subscriber));
    unsigned char message[LARGEST];
    WORKS(annulus_subscriber_recv(subscriber, message, size));
    is_number(message, size, 1);
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));
    WORKS(annulus_invitation_free(invitation));
}

static void names(size_t size) {
    CHECK(mkdtemp(folder) != NULL);
    in_child(find, size);
    annulus_shared_options options = options_of(size);
    annulus_publisher *publisher;
    annulus_invitation *invitation, *found;
    annulus_name *name, *another;
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, NULL));
    unsigned char message[LARGEST];
    fill(message, size, 1);
    WORKS(annulus_publisher_publish(publisher, message, size));
    RETURNS(ANNULUS_NOT_FOUND, annulus_invitation_find(folder, "quotes", 0, &found, &error));
    CHECK(found == NULL && strstr(error.text, "quotes") != NULL);
    RETURNS(ANNULUS_TIMEOUT, annulus_invitation_find(folder, "quotes", 1, &found, &error));
    WORKS(annulus_invitation_publish(invitation, folder, "quotes", &name, &error));
    RETURNS(ANNULUS_OCCUPIED, annulus_invitation_publish(invitation, folder, "quotes", &another, &error));
    CHECK(another == NULL);
    RETURNS(ANNULUS_INVALID, annulus_invitation_publish(invitation, folder, "a/b", &another, &error));
    RETURNS(ANNULUS_INVALID, annulus_invitation_publish(invitation, folder, NULL, &another, &error));
    ends_by(0);
    WORKS(annulus_name_free(name));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_name_free(name));
    RETURNS(ANNULUS_NOT_FOUND, annulus_invitation_find(folder, "quotes", 0, &found, &error));
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_publisher_free(publisher));
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

int main(void) {
    for (int at = 0; at < SIZE_COUNT; at++) {
        a_queue(SIZES[at]);
        a_broadcast_ring(ANNULUS_LOSSY, SIZES[at]);
    }
    a_queue_of_several(12);
    a_queue_of_several(200);
    a_broadcast_ring(ANNULUS_LOSSLESS, 12);
    a_broadcast_ring(ANNULUS_MP_LOSSY, 12);
    a_broadcast_ring(ANNULUS_MP_LOSSY, 1000);
    deaths(12);
    deaths(200);
    a_next_consumer(24);
    mismatches();
    misuse();
    names(12);
    return 0;
}
