/* What one thread did before it ended, emptied, or left a ring comes before what another thread does that has found that so. Under
 * ThreadSanitizer (ci/c-sanitizers, and `correct_program_is_not_reported`) none of it is a race; the accesses are plain. */
#include <annulus_inline.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

/* Two threads write it, one after the other. */
static int target;
/* The other thread may go on; it has closed. (Relaxed: they order nothing.) */
static int may_go_on, has_closed;

/* What the other thread has, of which each part uses some. */
static struct {
    annulus_producer *producer;
    annulus_consumer *consumer;
    annulus_closer *closer;
    annulus_subscriber *subscriber;
    annulus_bytes_consumer *records;
    annulus_bytes_subscriber *reader;
    annulus_shared_queue *shared;
    annulus_server *server;
    annulus_frame_subscriber *frames;
} other;

static void store(int *flag, int value) {
    __atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

static void await(const int *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_RELAXED)) {
        sched_yield();
    }
}

/* Runs a part with the other thread. */
static void beside(void *work(void *), void part(void)) {
    pthread_t thread;
    target = 1;
    store(&may_go_on, 0);
    store(&has_closed, 0);
    SPAWN(&thread, work, NULL);
    part();
    target += 1;
    CHECK(target == 3);
    JOIN(thread);
}

/* ---------------------------------------------------------------- a ring that was closed -- */

static void *frees_the_consumer(void *nothing) {
    await(&may_go_on);
    target += 1;
    WORKS(annulus_consumer_free(other.consumer));
    store(&has_closed, 1);
    return nothing;
}

static void *closes(void *nothing) {
    await(&may_go_on);
    target += 1;
    WORKS(annulus_closer_close(other.closer));
    store(&has_closed, 1);
    return nothing;
}

static void *closes_the_shared_queue(void *nothing) {
    target += 1;
    WORKS(annulus_shared_queue_close(other.shared));
    return nothing;
}

static void *closes_the_service(void *nothing) {
    target += 1;
    WORKS(annulus_server_close(other.server));
    return nothing;
}

static annulus_spsc_producer out;

/* Not by a verb, which would order it. */
static void await_the_end(void) {
    store(&may_go_on, 1);
    await(&has_closed);
    while (!(__atomic_load_n(out.closes, __ATOMIC_RELAXED) & ANNULUS_CLOSES)) {
        sched_yield();
    }
}

static void reserves_until_the_end(void) {
    void *slots;
    size_t count;
    annulus_status status;
    store(&may_go_on, 1);
    while ((status = annulus_spsc_try_reserve(&out, 1, &slots, &count)) == ANNULUS_OK) {
        sched_yield();
    }
    RETURNS(ANNULUS_CLOSED, status);
}

static void commits_at_the_end(void) {
    void *slots;
    size_t count;
    WORKS(annulus_spsc_try_reserve(&out, 1, &slots, &count));
    memset(slots, 0, sizeof(uint64_t));
    await_the_end();
    RETURNS(ANNULUS_CLOSED, annulus_spsc_commit(&out, 1));
}

static void settles_at_the_end(void) {
    await_the_end();
    /* As a send whose look before it came too early. */
    memset(annulus_spsc_at_(out.origin, out.tail), 0, sizeof(uint64_t));
    RETURNS(ANNULUS_CLOSED, annulus_spsc_publish_(&out, 1));
}

static void ends_of_queues(void) {
    void *(*const ends[])(void *) = {frees_the_consumer, closes};
    void (*const finds[])(void) = {reserves_until_the_end, commits_at_the_end, settles_at_the_end};
    annulus_options options = ANNULUS_OPTIONS(4, sizeof(uint64_t));
    /* (A consumer that is there would have the message of the last one.) */
    for (int way = 0; way < 5; way++) {
        const uint64_t number = 0;
        annulus_producer *producer;
        WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &other.consumer));
        WORKS(annulus_producer_closer(producer, &other.closer));
        WORKS(annulus_spsc_producer_open(&out, producer));
        WORKS(annulus_spsc_try_send(&out, &number, sizeof number)); /* so it knows of room */
        beside(ends[way % 2], finds[way / 2]);
        WORKS(annulus_spsc_producer_end(&out));
        WORKS(annulus_producer_free(producer));
        WORKS(annulus_closer_free(other.closer));
        if (way % 2 == 1) {
            WORKS(annulus_consumer_free(other.consumer));
        }
    }
}

static annulus_lossy_publisher lossy;

static void publishes_until_the_end(void) {
    static const unsigned char message[256] = {0};
    annulus_status status;
    store(&may_go_on, 1);
    while ((status = annulus_lossy_publish(&lossy, message, lossy.message_size)) == ANNULUS_OK) {
        sched_yield();
    }
    RETURNS(ANNULUS_CLOSED, status);
}

/* Of a message that is copied inline, and of one that the library copies. */
static void ends_of_rings(void) {
    for (size_t size = 8; size <= 256; size += 248) {
        annulus_options options = ANNULUS_OPTIONS(16, size);
        annulus_publisher *publisher;
        annulus_subscribable *subscribable;
        WORKS(annulus_broadcast_new(ANNULUS_LOSSY, &options, &publisher, &subscribable));
        WORKS(annulus_publisher_closer(publisher, &other.closer));
        WORKS(annulus_lossy_publisher_open(&lossy, publisher));
        beside(closes, publishes_until_the_end);
        WORKS(annulus_lossy_publisher_end(&lossy));
        WORKS(annulus_publisher_free(publisher));
        WORKS(annulus_subscribable_free(subscribable));
        WORKS(annulus_closer_free(other.closer));
    }
}

static annulus_producer *sends;

static void sends_until_the_end(void) {
    const uint64_t number = 0;
    annulus_status status;
    do {
        sched_yield();
        status = annulus_producer_try_send(sends, &number, sizeof number);
    } while (status == ANNULUS_OK || status == ANNULUS_FULL);
    RETURNS(ANNULUS_CLOSED, status);
}

static annulus_client *asks;

static void asks_until_the_end(void) {
    const uint64_t question = 0;
    annulus_status status;
    do {
        annulus_pending_answer *pending;
        sched_yield();
        status = annulus_client_ask(asks, &question, sizeof question, &pending);
        WORKS(annulus_pending_answer_free(pending));
    } while (status == ANNULUS_OK || status == ANNULUS_FULL);
    RETURNS(ANNULUS_CLOSED, status);
}

/* ---------------------------------------------------------------- what was received, or was not waited for -- */

static void *receives_by_handle(void *nothing) {
    int *pointer;
    const void *message;
    size_t count;
    WORKS(annulus_consumer_readable(other.consumer, ANNULUS_FOREVER, &message, &count));
    memcpy(&pointer, message, sizeof pointer);
    *pointer += 1;
    WORKS(annulus_consumer_advance(other.consumer, 1));
    return nothing;
}

static void *receives_by_view(void *nothing) {
    annulus_spsc_consumer in;
    int *pointer;
    const void *message;
    size_t count;
    WORKS(annulus_spsc_consumer_open(&in, other.consumer));
    WORKS(annulus_spsc_readable(&in, ANNULUS_FOREVER, &message, &count));
    memcpy(&pointer, message, sizeof pointer);
    *pointer += 1;
    WORKS(annulus_spsc_advance(&in, 1));
    WORKS(annulus_spsc_consumer_end(&in));
    return nothing;
}

static void *receives_a_record(void *nothing) {
    int *pointer;
    const void *record;
    size_t length;
    WORKS(annulus_bytes_consumer_readable(other.records, ANNULUS_FOREVER, &record, &length));
    memcpy(&pointer, record, sizeof pointer);
    *pointer += 1;
    WORKS(annulus_bytes_consumer_advance(other.records));
    return nothing;
}

static void *claims(void *nothing) {
    int *pointer;
    annulus_claimed *claimed;
    WORKS(annulus_consumer_claim(other.consumer, &pointer, sizeof pointer, ANNULUS_FOREVER, &claimed));
    *pointer += 1;
    WORKS(annulus_claimed_done(claimed));
    return nothing;
}

static void *leaves(void *nothing) {
    int *pointer;
    WORKS(annulus_subscriber_recv(other.subscriber, &pointer, sizeof pointer));
    *pointer += 1;
    WORKS(annulus_subscriber_free(other.subscriber));
    return nothing;
}

static void *leaves_with_a_record(void *nothing) {
    int *pointer;
    size_t length;
    WORKS(annulus_bytes_subscriber_recv(other.reader, &pointer, sizeof pointer, &length));
    *pointer += 1;
    WORKS(annulus_bytes_subscriber_free(other.reader));
    return nothing;
}

static void *leaves_with_a_frame(void *nothing) {
    int *pointer;
    annulus_frame frame;
    WORKS(annulus_frame_subscriber_recv(other.frames, ANNULUS_FOREVER, &frame));
    memcpy(&pointer, frame.bytes, sizeof pointer);
    *pointer += 1;
    WORKS(annulus_held_frame_free(frame.held));
    WORKS(annulus_frame_subscriber_free(other.frames));
    return nothing;
}

static int *const at_target = &target;

static void sends_and_sees_it_empty(void) {
    WORKS(annulus_producer_send(sends, &at_target, sizeof at_target));
    while (annulus_producer_len(sends) != 0) {
        sched_yield();
    }
}

static annulus_bytes_producer *writes;

static void writes_and_sees_it_empty(void) {
    WORKS(annulus_bytes_producer_send(writes, &at_target, sizeof at_target));
    while (!annulus_bytes_producer_is_empty(writes)) {
        sched_yield();
    }
}

/* It was full, with the pointer first. */
static void sends_one_more(void) {
    int *const none = NULL;
    WORKS(annulus_producer_send(sends, &none, sizeof none));
}

static annulus_publisher *publishes;

/* It was full, with the pointer first: a receive makes room for one, the end of the subscriber for more. */
static void publishes_two_more(void) {
    int *const none = NULL;
    WORKS(annulus_publisher_publish(publishes, &none, sizeof none));
    WORKS(annulus_publisher_publish(publishes, &none, sizeof none));
}

static annulus_bytes_publisher *tells;

static void publishes_two_more_records(void) {
    int *const none = NULL;
    WORKS(annulus_bytes_publisher_publish(tells, &none, sizeof none));
    WORKS(annulus_bytes_publisher_publish(tells, &none, sizeof none));
}

static annulus_frame_publisher *lends;

static annulus_status publish_frame(int *pointer, uint64_t timeout_ns) {
    void *bytes;
    uint64_t sequence;
    WORKS(annulus_frame_publisher_loan(lends, sizeof pointer, &bytes));
    memcpy(bytes, &pointer, sizeof pointer);
    return annulus_frame_publisher_publish(lends, sizeof pointer, timeout_ns, &sequence);
}

static void publishes_two_more_frames(void) {
    WORKS(publish_frame(NULL, ANNULUS_FOREVER));
    WORKS(publish_frame(NULL, ANNULUS_FOREVER));
}

static void queues_that_are_empty(void) {
    const uint32_t kinds[] = {ANNULUS_SPSC, ANNULUS_MPSC, ANNULUS_SPSC};
    annulus_options options = ANNULUS_OPTIONS(4, sizeof at_target);
    for (int way = 0; way < 3; way++) {
        WORKS(annulus_queue_new(kinds[way], &options, &sends, &other.consumer));
        beside(way < 2 ? receives_by_handle : receives_by_view, sends_and_sees_it_empty);
        WORKS(annulus_producer_free(sends));
        WORKS(annulus_consumer_free(other.consumer));
    }
    annulus_options records = ANNULUS_BYTES_OPTIONS(4096);
    WORKS(annulus_bytes_queue_new(&records, &writes, &other.records));
    beside(receives_a_record, writes_and_sees_it_empty);
    WORKS(annulus_bytes_producer_free(writes));
    WORKS(annulus_bytes_consumer_free(other.records));
}

static void subscriber_that_leaves(void) {
    annulus_options options = ANNULUS_OPTIONS(4, sizeof at_target);
    annulus_subscribable *subscribable;
    WORKS(annulus_broadcast_new(ANNULUS_LOSSLESS, &options, &publishes, &subscribable));
    WORKS(annulus_subscribable_subscribe(subscribable, false, &other.subscriber));
    annulus_status status = annulus_publisher_publish(publishes, &at_target, sizeof at_target);
    for (int *none = NULL; status == ANNULUS_OK;) {
        status = annulus_publisher_try_publish(publishes, &none, sizeof none);
    }
    RETURNS(ANNULUS_FULL, status);
    beside(leaves, publishes_two_more);
    WORKS(annulus_publisher_free(publishes));
    WORKS(annulus_subscribable_free(subscribable));
}

static void reader_that_leaves(void) {
    annulus_options options = ANNULUS_BYTES_OPTIONS(128);
    annulus_bytes_subscribable *subscribable;
    WORKS(annulus_bytes_broadcast_new(ANNULUS_LOSSLESS, &options, &tells, &subscribable));
    WORKS(annulus_bytes_subscribable_subscribe(subscribable, false, &other.reader));
    annulus_status status = annulus_bytes_publisher_publish(tells, &at_target, sizeof at_target);
    for (int *none = NULL; status == ANNULUS_OK;) {
        status = annulus_bytes_publisher_try_publish(tells, &none, sizeof none);
    }
    RETURNS(ANNULUS_FULL, status);
    beside(leaves_with_a_record, publishes_two_more_records);
    WORKS(annulus_bytes_publisher_free(tells));
    WORKS(annulus_bytes_subscribable_free(subscribable));
}

/* ---------------------------------------------------------------- rings between processes, in one -- */

static void shared_queues(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(4, int *, NULL);
    annulus_invitation *invitation;
    WORKS(annulus_shared_queue_new(&options, &other.shared, &invitation, NULL));
    WORKS(annulus_invitation_producer(invitation, &options, &sends, NULL));
    WORKS(annulus_invitation_consumer(invitation, &options, &other.consumer, NULL));
    annulus_status status = annulus_producer_send(sends, &at_target, sizeof at_target);
    for (int *none = NULL; status == ANNULUS_OK;) {
        status = annulus_producer_try_send(sends, &none, sizeof none);
    }
    RETURNS(ANNULUS_FULL, status);
    beside(claims, sends_one_more);
    beside(closes_the_shared_queue, sends_until_the_end);
    WORKS(annulus_producer_free(sends));
    WORKS(annulus_consumer_free(other.consumer));
    WORKS(annulus_shared_queue_free(other.shared));
    WORKS(annulus_invitation_free(invitation));
}

static void services(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(4, uint64_t, NULL);
    annulus_invitation *invitation;
    WORKS(annulus_shared_service_new(&options, &options, &other.server, &invitation, NULL));
    WORKS(annulus_invitation_client(invitation, &options, &options, &asks, NULL));
    beside(closes_the_service, asks_until_the_end);
    WORKS(annulus_client_free(asks));
    WORKS(annulus_server_free(other.server));
    WORKS(annulus_invitation_free(invitation));
}

static void frames(void) {
    annulus_shared_options options = ANNULUS_SHARED_BYTES_OPTIONS(4);
    annulus_frame_options of = ANNULUS_FRAME_OPTIONS(sizeof at_target);
    annulus_invitation *invitation;
    of.lossless = true;
    WORKS(annulus_shared_frames_new(&options, &of, &lends, &invitation, NULL));
    WORKS(annulus_invitation_frames(invitation, &options, false, true, &other.frames, NULL));
    annulus_status status = publish_frame(at_target, 0);
    while (status == ANNULUS_OK) {
        status = publish_frame(NULL, 0);
    }
    RETURNS(ANNULUS_FULL, status);
    beside(leaves_with_a_frame, publishes_two_more_frames);
    WORKS(annulus_frame_publisher_free(lends));
    WORKS(annulus_invitation_free(invitation));
}

int main(void) {
    ends_of_queues();
    ends_of_rings();
    queues_that_are_empty();
    subscriber_that_leaves();
    reader_that_leaves();
    shared_queues();
    services();
    frames();
    return 0;
}
