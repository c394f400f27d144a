// As peer.c, by annulus.hpp.
#include <annulus/shm.hpp>

#include <cinttypes>

#include "tick.h"

namespace shm = annulus::shm;

template <> inline constexpr const char *annulus::shm::schema<tick> = ANNULUS_SCHEMA(tick, TICK);

static shm::error why;

// What was made or joined; the program ends where it was not.
template <class Result> static auto made(Result result) {
    if (!result) std::fprintf(stderr, "%s: %s\n", annulus::message_of(result.error()), why.text);
    CHECK(result.has_value());
    return std::move(*result);
}

static void wait_for_the_end() {
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
}

template <class Made, class Send> static void sends(Made made_ring, const char *directory, const char *name, std::uint64_t count, Send send) {
    auto [handle, invitation] = std::move(made_ring);
    auto given = made(invitation.publish(directory, name, &why));
    annulus::status status = ANNULUS_OK;
    for (std::uint64_t number = 0; number < count && status == ANNULUS_OK; number++) {
        status = send(handle, tick_of(number));
    }
    CHECK(status == ANNULUS_OK || status == ANNULUS_PEER_DIED);
    std::puts(status == ANNULUS_OK ? "sent" : "died");
    wait_for_the_end();
}

template <class Receiver> static void receives(Receiver receiver, std::uint64_t count) {
    std::puts("joined");
    std::fflush(stdout);
    std::uint64_t received = 0, sum = 0;
    const char *end = "stopped";
    while (count == 0 || received < count) {
        auto message = receiver.recv();
        if (!message) {
            CHECK(message.error() == ANNULUS_CLOSED || message.error() == ANNULUS_PEER_DIED);
            end = message.error() == ANNULUS_CLOSED ? "closed" : "died";
            break;
        }
        is_tick(&*message, received);
        sum += message->check;
        received++;
    }
    std::printf("%s %" PRIu64 " %" PRIu64 "\n", end, received, sum);
    wait_for_the_end();
}

int main(int count, char **arguments) {
    CHECK(count == 6);
    const bool is_queue = std::string_view(arguments[2]) == "queue";
    const char *directory = arguments[3], *name = arguments[4];
    const std::uint64_t messages = std::strtoull(arguments[5], nullptr, 10);
    const shm::options options = {.capacity = 256};
    if (std::string_view(arguments[1]) == "send") {
        if (is_queue) {
            sends(made(shm::spsc::producer<tick>(options, &why)), directory, name, messages,
                  [](auto &sender, const tick &tick) { return sender.send(tick); });
        } else {
            sends(made(shm::lossy::publishes<tick>(options, &why)), directory, name, messages,
                  [](auto &publisher, const tick &tick) { return publisher.publish(tick); });
        }
        return 0;
    }
    auto invitation = made(shm::invitation::find(directory, name, shm::forever, &why));
    if (is_queue) receives(made(shm::spsc::consumer<tick>(invitation, {}, &why)), messages);
    else receives(made(made(shm::subscribes<tick>(invitation, {}, &why)).subscribe_from_oldest()), messages);
}
