// Two processes: one publishes prices under a name, the other one finds them there. A process in Rust does that by
//
//     let ring = Invitation::find(&Directory::open(path)?.wait_for("prices", None)?)?.accept::<[f64; 2]>()?;
//     for [bid, ask] in ring.subscribable().subscribe_from_oldest() { … }
#include <annulus.hpp>

#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace shm = annulus::shm;

struct price {
    double bid, ask;
};
template <> inline constexpr const char *annulus::shm::schema<price> = "[f64;2]";

static int subscribe(const char *directory) {
    shm::error why;
    auto invitation = shm::invitation::find(directory, "prices", shm::forever, &why); // waits for the publisher
    if (!invitation) return 1;
    auto subscribable = shm::subscribes<price>(*invitation, {}, &why); // mapped read-only
    if (!subscribable) return 1;
    auto subscriber = subscribable->subscribe_from_oldest();
    if (!subscriber) return 1;
    int count = 0;
    annulus::status end = ANNULUS_OK;
    while (end == ANNULUS_OK) {
        auto price = subscriber->recv();
        end = price.error();
        if (price && price->ask - price->bid == 0.5) count++;
    }
    return end == ANNULUS_CLOSED && count == 100 ? 0 : 1; // ANNULUS_PEER_DIED: it was killed
}

int main() {
    char directory[] = "/tmp/annulus-prices-XXXXXX"; // a null pointer is the directory of the user
    int status = 1;
    if (mkdtemp(directory) == nullptr) return 1;
    const pid_t child = fork(); // before there is a ring
    if (child == 0) _exit(subscribe(directory));

    auto made = shm::lossy::publishes<price>({.capacity = 128});
    if (!made) return made.error();
    auto &[publisher, invitation] = *made;
    auto name = invitation.publish(directory, "prices"); // as long as `name` lives
    if (!name) return name.error();
    for (int cents = 0; cents < 100; cents++) {
        if (publisher.publish({cents * 0.25, cents * 0.25 + 0.5}) != ANNULUS_OK) return 1;
    }
    if (publisher.close() != ANNULUS_OK) return 1; // a subscriber that comes later still finds what the ring has, while its name is there
    waitpid(child, &status, 0);
    return std::system((std::string("rm -r ") + directory).c_str()) == 0 ? status : 1;
}
