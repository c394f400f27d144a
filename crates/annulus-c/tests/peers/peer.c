/* One side of a ring between processes, for the test that pairs the languages: `send KIND DIRECTORY NAME COUNT` makes the ring, and
 * `recv KIND DIRECTORY NAME COUNT` joins it, and stops behind so many messages (0: not before the end). Says what came of it in a line, and
 * waits for the end of its input. */
#include <inttypes.h>
#include <string.h>

#include "tick.h"

#define CAPACITY 256

static const annulus_shared_options OPTIONS = ANNULUS_SHARED_OPTIONS(CAPACITY, struct tick, ANNULUS_SCHEMA(tick, TICK));

/* It did, or why not. */
static void made(annulus_status status, const annulus_shared_error *error) {
    if (status != ANNULUS_OK) {
        fprintf(stderr, "%s: %s\n", annulus_strerror(status), error->text);
        exit(1);
    }
}

static void wait_for_the_end(void) {
    fflush(stdout);
    while (getchar() != EOF) {
    }
}

static int sends(bool is_queue, const char *directory, const char *name, uint64_t count) {
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_producer *producer = NULL;
    annulus_publisher *publisher = NULL;
    annulus_invitation *invitation;
    annulus_name *given;
    made(is_queue ? annulus_shared_producer_new(&OPTIONS, &producer, &invitation, &error)
                  : annulus_shared_publisher_new(ANNULUS_LOSSY, &OPTIONS, &publisher, &invitation, &error),
         &error);
    made(annulus_invitation_publish(invitation, directory, name, &given, &error), &error);
    annulus_status status = ANNULUS_OK;
    for (uint64_t number = 0; number < count && status == ANNULUS_OK; number++) {
        const struct tick tick = tick_of(number);
        status = is_queue ? annulus_producer_send(producer, &tick, sizeof tick)
                          : annulus_publisher_publish(publisher, &tick, sizeof tick);
    }
    CHECK(status == ANNULUS_OK || status == ANNULUS_PEER_DIED);
    puts(status == ANNULUS_OK ? "sent" : "died");
    wait_for_the_end();
    WORKS(annulus_producer_free(producer));
    WORKS(annulus_publisher_free(publisher));
    WORKS(annulus_name_free(given));
    WORKS(annulus_invitation_free(invitation));
    return 0;
}

static int receives(bool is_queue, const char *directory, const char *name, uint64_t count) {
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_consumer *consumer = NULL;
    annulus_subscribable *subscribable = NULL;
    annulus_subscriber *subscriber = NULL;
    annulus_invitation *invitation;
    made(annulus_invitation_find(directory, name, ANNULUS_FOREVER, &invitation, &error), &error);
    if (is_queue) {
        made(annulus_invitation_consumer(invitation, &OPTIONS, &consumer, &error), &error);
    } else {
        made(annulus_invitation_subscribable(invitation, &OPTIONS, &subscribable, &error), &error);
        made(annulus_subscribable_subscribe(subscribable, true, &subscriber), &error);
    }
    puts("joined");
    fflush(stdout);
    uint64_t received = 0, sum = 0;
    annulus_status status = ANNULUS_OK;
    while (count == 0 || received < count) {
        struct tick tick;
        status = is_queue ? annulus_consumer_recv(consumer, &tick, sizeof tick)
                          : annulus_subscriber_recv(subscriber, &tick, sizeof tick);
        if (status != ANNULUS_OK) {
            break;
        }
        is_tick(&tick, received);
        sum += tick.check;
        received++;
    }
    CHECK(status == ANNULUS_OK || status == ANNULUS_CLOSED || status == ANNULUS_PEER_DIED);
    const char *end = status == ANNULUS_OK ? "stopped" : status == ANNULUS_CLOSED ? "closed" : "died";
    printf("%s %" PRIu64 " %" PRIu64 "\n", end, received, sum);
    wait_for_the_end();
    WORKS(annulus_consumer_free(consumer));
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));
    WORKS(annulus_invitation_free(invitation));
    return 0;
}

int main(int count, char **arguments) {
    CHECK(count == 6);
    bool is_queue = strcmp(arguments[2], "queue") == 0;
    uint64_t messages = strtoull(arguments[5], NULL, 10);
    return (strcmp(arguments[1], "send") == 0 ? sends : receives)(is_queue, arguments[3], arguments[4], messages);
}
