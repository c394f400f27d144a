/* A queue that consumers in several processes share: each message once, whichever process dies. */
#include <poll.h>

#include "two_processes.h"

enum { JOB = 24 };

static annulus_shared_options jobs(void) {
    annulus_shared_options options = options_of(JOB);
    options.places = 2;
    options.receivers = 3;
    return options;
}

static annulus_shared_queue *new_queue(uint32_t flags, annulus_invitation **invitation) {
    annulus_shared_options options = jobs();
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_shared_queue *queue;
    options.flags = flags;
    WORKS(annulus_shared_queue_new(&options, &queue, invitation, &error));
    CHECK(error.text[0] == 0);
    return queue;
}

static annulus_producer *producer_of(annulus_invitation *invitation) {
    annulus_shared_options options = jobs();
    annulus_producer *producer;
    WORKS(annulus_invitation_producer(invitation, &options, &producer, NULL));
    CHECK(annulus_producer_capacity(producer) == CAPACITY);
    return producer;
}

static annulus_consumer *consumer_of(annulus_invitation *invitation) {
    annulus_shared_options options = jobs();
    annulus_consumer *consumer;
    WORKS(annulus_invitation_consumer(invitation, &options, &consumer, NULL));
    CHECK(annulus_consumer_capacity(consumer) == CAPACITY);
    return consumer;
}

/* The number of the job at `message`, which is whole. */
static uint64_t number_of(void) {
    uint64_t number;
    unsigned char rest[JOB];
    memcpy(&number, message, sizeof number);
    fill(rest, JOB, number);
    CHECK(memcmp(message + sizeof number, rest + sizeof number, JOB - sizeof number) == 0);
    return number;
}

static void send_job(annulus_producer *producer, uint64_t number) {
    fill(message, JOB, number);
    memcpy(message, &number, sizeof number);
    WORKS(annulus_producer_send(producer, message, JOB));
}

/* The child's: works until the end, and gives each fifth job back the first time. Writes which it has done. */
static void work(size_t size) {
    annulus_invitation *invitation = received();
    annulus_consumer *consumer = consumer_of(invitation);
    WORKS(annulus_invitation_free(invitation));
    tell();
    annulus_claimed *claimed;
    annulus_status status;
    while ((status = annulus_consumer_claim(consumer, message, size, ANNULUS_FOREVER, &claimed)) == ANNULUS_OK) {
        uint64_t number = number_of();
        if (number % 5 == 0 && annulus_claimed_given_before(claimed) == 0) {
            WORKS(annulus_claimed_free(claimed));
            RETURNS(ANNULUS_NOT_A_HANDLE, annulus_claimed_free(claimed));
            continue;
        }
        CHECK(write(other, &number, sizeof number) == sizeof number);
        WORKS(annulus_claimed_done(claimed));
        RETURNS(ANNULUS_NOT_A_HANDLE, annulus_claimed_done(claimed));
    }
    CHECK(status == ANNULUS_CLOSED && claimed == NULL);
    WORKS(annulus_consumer_free(consumer));
}

static void jobs_of_two_processes(void) {
    in_child(work, JOB);
    annulus_invitation *invitation;
    annulus_shared_queue *queue = new_queue(ANNULUS_CLOSE_WITH_LAST_PRODUCER, &invitation);
    WORKS(annulus_invitation_send(invitation, other));
    annulus_producer *producer = producer_of(invitation);
    annulus_consumer *consumer = consumer_of(invitation);
    WORKS(annulus_invitation_free(invitation));
    listen_for();
    CHECK(annulus_shared_queue_producers(queue) == 1 && annulus_shared_queue_consumers(queue) == 2);
    annulus_peer peer;
    WORKS(annulus_producer_peer(producer, &peer));
    CHECK(peer == ANNULUS_PEER_ALIVE);

    bool done[MESSAGES] = {false};
    uint64_t count = 0, number = 0;
    while (number < MESSAGES) {
        for (; number < MESSAGES && annulus_producer_len(producer) < CAPACITY / 2; number++) {
            send_job(producer, number);
        }
        if (annulus_consumer_try_recv(consumer, message, JOB) == ANNULUS_OK) {
            CHECK(!done[number_of()]);
            done[number_of()] = true;
            count++;
        }
    }
    WORKS(annulus_producer_free(producer));
    annulus_status status;
    while ((status = annulus_consumer_recv(consumer, message, JOB)) == ANNULUS_OK) {
        CHECK(!done[number_of()]);
        done[number_of()] = true;
        count++;
    }
    CHECK(status == ANNULUS_CLOSED);
    for (; count < MESSAGES; count++) {
        CHECK(read(other, &number, sizeof number) == sizeof number && !done[number]);
        done[number] = true;
    }
    CHECK(annulus_shared_queue_is_closed(queue) && annulus_shared_queue_len(queue) == 0);
    CHECK(annulus_shared_queue_given_again(queue) <= MESSAGES / 5 && annulus_shared_queue_dropped(queue) == 0);
    WORKS(annulus_consumer_free(consumer));
    WORKS(annulus_shared_queue_free(queue));
    ends_by(0);
}

/* The child's: claims three jobs, does the second one, and dies. */
static void die_at_work(size_t size) {
    annulus_invitation *invitation = received();
    annulus_consumer *consumer = consumer_of(invitation);
    annulus_claimed *claimed[3];
    for (uint64_t number = 0; number < 3; number++) {
        WORKS(annulus_consumer_claim(consumer, message, size, ANNULUS_FOREVER, &claimed[number]));
        CHECK(number_of() == number);
    }
    WORKS(annulus_claimed_done(claimed[1]));
    kill(getpid(), SIGKILL);
}

static void dead_worker(uint32_t flags) {
    in_child(die_at_work, JOB);
    annulus_invitation *invitation;
    annulus_shared_queue *queue = new_queue(flags, &invitation);
    WORKS(annulus_invitation_send(invitation, other));
    annulus_producer *producer = producer_of(invitation);
    for (uint64_t number = 0; number < 4; number++) {
        send_job(producer, number);
    }
    ends_by(SIGKILL);
    annulus_peer peer;
    WORKS(annulus_producer_peer(producer, &peer));
    CHECK(peer == ANNULUS_PEER_DEAD);

    /* It takes the dead one's place, or finds what that held where it looks after it. */
    annulus_consumer *consumer = consumer_of(invitation);
    annulus_claimed *claimed;
    bool drops = flags & ANNULUS_DROP_UNRECEIVED;
    unsigned found = 0;
    for (int at = 0; at < (drops ? 1 : 3); at++) {
        WORKS(annulus_consumer_claim(consumer, message, JOB, ANNULUS_FOREVER, &claimed));
        CHECK(annulus_claimed_given_before(claimed) == (number_of() == 3 ? 0u : 1u));
        found |= 1u << number_of();
        WORKS(annulus_claimed_done(claimed));
    }
    CHECK(found == (drops ? 8u : 13u));
    CHECK(annulus_shared_queue_given_again(queue) == (drops ? 0 : 2));
    CHECK(annulus_shared_queue_dropped(queue) == (drops ? 2 : 0));
    RETURNS(ANNULUS_EMPTY, annulus_consumer_claim(consumer, message, JOB, 0, &claimed));
    WORKS(annulus_shared_queue_close(queue));
    RETURNS(ANNULUS_CLOSED, annulus_consumer_claim(consumer, message, JOB, 1, &claimed));
    WORKS(annulus_consumer_free(consumer));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_shared_queue_free(queue));
}

/* What such handles can't do, and what does not fit. */
static void refused(void) {
    annulus_invitation *invitation, *none;
    annulus_shared_queue *queue = new_queue(0, &invitation), *another;
    annulus_producer *producer = producer_of(invitation), *more;
    annulus_consumer *consumer = consumer_of(invitation);
    annulus_claimed *claimed;
    annulus_stats stats;
    stats.size = sizeof stats;
    void *slots;
    size_t count;
    RETURNS(ANNULUS_UNSUPPORTED, annulus_producer_try_reserve(producer, 1, &slots, &count));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_producer_clone(producer, &more));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_producer_stats(producer, &stats));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_consumer_claim(consumer, message, JOB - 1, 0, &claimed));
    RETURNS(ANNULUS_INVALID, annulus_consumer_claim(consumer, NULL, JOB, 0, &claimed));
    RETURNS(ANNULUS_INVALID, annulus_claimed_done(NULL));
    WORKS(annulus_claimed_free(NULL));
    annulus_producer *second = producer_of(invitation);
    annulus_shared_options options = jobs();
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    RETURNS(ANNULUS_OCCUPIED, annulus_invitation_producer(invitation, &options, &more, &error));
    CHECK(error.found == 2);
    annulus_subscribable *subscribable;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_subscribable(invitation, &options, &subscribable, &error));
    options.message_size = 16;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_queue(invitation, &options, &another, &error));
    CHECK(error.found == JOB && error.wanted == 16);
    options.message_size = 4104;
    RETURNS(ANNULUS_WRONG_SIZE, annulus_shared_queue_new(&options, &another, &none, &error));
    options = jobs();
    options.receivers = 1025;
    RETURNS(ANNULUS_INVALID, annulus_shared_queue_new(&options, &another, &none, &error));
    CHECK(error.found == 1025 && error.wanted == 1024);
    options = jobs();
    options.deadline_ns = 1;
    RETURNS(ANNULUS_INVALID, annulus_shared_queue_new(&options, &another, &none, &error));
    CHECK(strstr(error.text, "deadline_ns has to be 0") != NULL);
    /* A queue of one consumer has no claims. */
    annulus_consumer *alone;
    options = jobs();
    WORKS(annulus_shared_consumer_new(&options, &alone, &none, NULL));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_consumer_claim(alone, message, JOB, 0, &claimed));
    CHECK(annulus_consumer_len(consumer) == 0 && annulus_shared_queue_len(NULL) == 0);
    WORKS(annulus_consumer_free(alone));
    WORKS(annulus_invitation_free(none));
    WORKS(annulus_consumer_free(consumer));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_producer_free(second));
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_shared_queue_free(queue));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_shared_queue_free(queue));
    CHECK(annulus_shared_queue_is_closed(queue));
}

static void descriptor(void) {
    annulus_invitation *invitation;
    annulus_shared_queue *queue = new_queue(0, &invitation);
    annulus_producer *producer = producer_of(invitation);
    annulus_consumer *consumer = consumer_of(invitation);
    int fd;
    bool ready;
    WORKS(annulus_consumer_fd(consumer, &fd));
    WORKS(annulus_consumer_arm(consumer, &ready));
    CHECK(!ready);
    send_job(producer, 7);
    struct pollfd polled;
    polled.fd = fd;
    polled.events = POLLIN;
    CHECK(poll(&polled, 1, 60000) == 1);
    WORKS(annulus_consumer_recv(consumer, message, JOB));
    CHECK(number_of() == 7);
    WORKS(annulus_consumer_free(consumer));
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_shared_queue_free(queue));
}

int main(void) {
    jobs_of_two_processes();
    dead_worker(0);
    dead_worker(ANNULUS_DROP_UNRECEIVED);
    refused();
    descriptor();
    return 0;
}
