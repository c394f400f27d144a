/* Publishes prices under a name, a hundred in a second: so many seconds, or one. A process in any language finds them there, in Python by
 *
 *     for price in annulus.subscribe("prices", timeout=None): ...
 */
#include <annulus.h>
#include <stdint.h>
#include <time.h>

#include "check.h"

struct price {
    uint64_t time;
    double bid, ask;
};

int main(int count, char **words) {
    const int seconds = count > 1 ? atoi(words[1]) : 1;
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(4096, struct price, "price{time:u64(ns),bid:f64,ask:f64}");
    annulus_publisher *publisher;
    annulus_invitation *invitation;
    annulus_name *name;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, NULL));
    WORKS(annulus_invitation_publish(invitation, NULL, "prices", &name, NULL)); /* in the directory of this user */
    for (int number = 0; number < 100 * seconds; number++) {
        struct timespec now, pause = {0, 10000000};
        clock_gettime(CLOCK_REALTIME, &now);
        const double bid = 1.09 + number % 100 * 1e-5;
        struct price price = {(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, bid, bid + 1e-4};
        WORKS(annulus_publisher_publish(publisher, &price, sizeof price));
        nanosleep(&pause, NULL);
    }
    WORKS(annulus_publisher_free(publisher));
    WORKS(annulus_name_free(name));
    WORKS(annulus_invitation_free(invitation));
    return 0;
}
