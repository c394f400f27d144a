// annulus/watch.hpp: newest values, here with both sides in one process.
#include <annulus/watch.hpp>

#include <chrono>
#include <thread>

#include "check.h"

namespace shm = annulus::shm;
using namespace std::chrono_literals;

struct quote {
    double bid, ask;
};
template <> inline constexpr const char *annulus::shm::schema<quote> = "quote{bid:f64,ask:f64}";

static void by_key() {
    auto made = shm::watch::sends<quote>({.capacity = 3});
    CHECK(made);
    auto &[sender, invitation] = *made;
    shm::error why;
    CHECK(shm::watch::reads<double>(invitation, {}, &why).error() == ANNULUS_MISMATCH);
    CHECK(why.message().find("8") != std::string_view::npos);
    auto reader = shm::watch::reads<quote>(invitation);
    CHECK(reader && reader->cells() == 3 && sender.cells() == 3 && reader->peer().value() == ANNULUS_PEER_ALIVE);
    CHECK(reader->newest().error() == ANNULUS_EMPTY && sender.newest().error() == ANNULUS_EMPTY);
    CHECK(reader->cell("EURUSD").error() == ANNULUS_NOT_FOUND && reader->key_of(0).error() == ANNULUS_NOT_FOUND);

    CHECK(sender.cell("EURUSD").value() == 0 && sender.cell("USDJPY").value() == 1 && sender.cell("EURUSD").value() == 0);
    CHECK(sender.send(1, {149.25, 149.5}) == ANNULUS_OK && sender.send({1.5, 1.75}) == ANNULUS_OK);
    CHECK(sender.send(3, {}) == ANNULUS_INVALID && reader->newest(3).error() == ANNULUS_INVALID);
    CHECK(reader->newest(reader->cell("USDJPY").value())->ask == 149.5 && reader->newest()->bid == 1.5 && sender.newest(1)->bid == 149.25);
    CHECK(reader->key_of(1)->view() == "USDJPY");

    auto all = reader->changes();
    auto one = reader->changes(1);
    CHECK(all && one && reader->changes(3).error() == ANNULUS_INVALID);
    CHECK(all->fd().value() >= 0 && all->arm().value());
    CHECK(all->recv()->cell == 0 && all->recv(1ms)->value.bid == 149.25 && all->try_recv().error() == ANNULUS_EMPTY);
    CHECK(all->recv(1ms).error() == ANNULUS_TIMEOUT && !all->arm().value() && all->corrupt() == 0);
    CHECK(one->recv()->value.ask == 149.5);
    { auto gone = std::move(sender); }
    CHECK(all->recv().error() == ANNULUS_CLOSED && one->recv().error() == ANNULUS_CLOSED);
    CHECK(reader->peer().value() == ANNULUS_PEER_CLOSED && reader->newest()->bid == 1.5);
}

static void waits() {
    auto made = shm::watch::sends<std::uint64_t>({.capacity = 1});
    auto &[sender, invitation] = *made;
    auto changes = shm::watch::reads<std::uint64_t>(invitation)->changes(0);
    std::thread reading([&] {
        std::uint64_t last = 0;
        while (auto change = changes->recv()) {
            CHECK(change->value > last);
            last = change->value;
        }
        CHECK(last == 1000);
    });
    for (std::uint64_t number = 1; number <= 1000; number++) {
        CHECK(sender.send(number) == ANNULUS_OK);
    }
    { auto gone = std::move(sender); }
    reading.join();
}

int main() {
    by_key();
    waits();
}
