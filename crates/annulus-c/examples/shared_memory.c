/* Two processes: one publishes prices under a name, the other one finds them there. A process in Rust does that by
 *
 *     let ring = Invitation::find(&Directory::open(path)?.wait_for("prices", None)?)?.accept::<[f64; 2]>()?;
 *     for [bid, ask] in ring.subscribable().subscribe_from_oldest() { … }
 */
#include <annulus.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct price {
    double bid, ask;
};

static int subscribe(const char *directory) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(0, struct price, "[f64;2]");
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_invitation *invitation;
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber;
    WORKS(annulus_invitation_find(directory, "prices", ANNULUS_FOREVER, &invitation, &error)); /* waits for the publisher */
    WORKS(annulus_invitation_subscribable(invitation, &options, &subscribable, &error));       /* mapped read-only */
    WORKS(annulus_subscribable_subscribe(subscribable, true, &subscriber));
    struct price price;
    int count = 0;
    annulus_status status;
    while ((status = annulus_subscriber_recv(subscriber, &price, sizeof price)) == ANNULUS_OK) {
        CHECK(price.ask - price.bid == 0.5);
        count++;
    }
    RETURNS(ANNULUS_CLOSED, status); /* ANNULUS_PEER_DIED: it was killed */
    CHECK(count == 100);
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));
    WORKS(annulus_invitation_free(invitation));
    return 0;
}

int main(void) {
    char directory[] = "/tmp/annulus-prices-XXXXXX"; /* a null pointer is the directory of the user */
    CHECK(mkdtemp(directory) != NULL);
    pid_t child = fork(); /* before there is a ring */
    if (child == 0) {
        _exit(subscribe(directory));
    }
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(128, struct price, "[f64;2]");
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    annulus_name *name;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, NULL));
    WORKS(annulus_invitation_publish(invitation, directory, "prices", &name, NULL));
    for (int cents = 0; cents < 100; cents++) {
        struct price price = {cents * 0.25, cents * 0.25 + 0.5};
        WORKS(annulus_publisher_publish(publisher, &price, sizeof price));
    }
    /* A subscriber that comes later still finds what the ring has, while its name is there. */
    WORKS(annulus_publisher_close(publisher));
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child);
    WORKS(annulus_publisher_free(publisher));
    WORKS(annulus_name_free(name));
    WORKS(annulus_invitation_free(invitation));
    char command[64] = "rm -r ";
    strcat(command, directory);
    CHECK(system(command) == 0);
    return status == 0 ? 0 : 1;
}
