// annulus/service.hpp: questions and answers of types, here with both sides in one process.
#include <annulus/service.hpp>

#include <chrono>
#include <thread>
#include <vector>

#include "check.h"

namespace shm = annulus::shm;
namespace services = annulus::shm::services;
using namespace std::chrono_literals;

struct question {
    std::uint32_t symbol, size;
};
struct answer {
    double bid, ask;
};
template <> inline constexpr const char *annulus::shm::schema<question> = "question{symbol:u32,size:u32}";
template <> inline constexpr const char *annulus::shm::schema<answer> = "answer{bid:f64,ask:f64}";

static void in_any_order() {
    auto made = services::serves<question, answer>({.capacity = 3, .places = 1});
    CHECK(made);
    auto &[server, invitation] = *made;
    shm::error why;
    CHECK((services::joins<question, double>(invitation, {}, &why).error() == ANNULUS_MISMATCH));
    CHECK(why.message().find("answer") != std::string_view::npos);
    auto client = services::joins<question, answer>(invitation);
    CHECK(client && server.clients() == 1 && client->peer().value() == ANNULUS_PEER_ALIVE);
    CHECK((services::joins<question, answer>(invitation).error() == ANNULUS_OCCUPIED));
    CHECK(server.try_recv().error() == ANNULUS_EMPTY && server.recv(1ms).error() == ANNULUS_TIMEOUT);
    CHECK(server.fd().value() >= 0 && !server.arm().value());
    for (std::uint32_t round = 0; round < 100; round++) {
        std::vector<services::pending_answer<answer>> pending;
        for (std::uint32_t at = 0; at < 3; at++) {
            pending.push_back(std::move(*client->ask({round, at})));
        }
        CHECK(client->ask({round, 3}).error() == ANNULUS_FULL && client->open() == 3);
        CHECK(pending[0].try_recv().error() == ANNULUS_EMPTY && pending[0].recv(1us).error() == ANNULUS_TIMEOUT);
        auto first = server.recv(), second = server.recv();
        { auto third = server.recv(); } // refused
        CHECK(first->question().size == 0 && second->question().symbol == round && first->is_client_there());
        CHECK(std::move(*second).answer({1.5, round + 0.5}) == ANNULUS_OK);
        CHECK(std::move(*first).answer({2.5, round + 0.25}) == ANNULUS_OK);
        CHECK(pending[0].recv()->ask == round + 0.25 && pending[1].recv()->ask == round + 0.5);
        CHECK(pending[2].recv().error() == ANNULUS_REFUSED && pending[1].recv().error() == ANNULUS_INVALID);
    }
    auto pending = client->ask({1, 2});
    auto kept = server.recv();
    CHECK(server.close() == ANNULUS_OK && client->ask({1, 2}).error() == ANNULUS_CLOSED);
    { auto gone = std::move(server); }
    CHECK(std::move(*kept).answer({1.5, 2.5}) == ANNULUS_OK && pending->recv()->bid == 1.5);
}

static void waits() {
    auto made = services::serves<question, answer>({.capacity = 8});
    auto &[server, invitation] = *made;
    auto client = services::joins<question, answer>(invitation);
    std::thread serving([&server = server] {
        for (int count = 0; count < 1000; count++) {
            auto request = server.recv();
            const double size = request->question().size;
            CHECK(std::move(*request).answer({size, size + 1}) == ANNULUS_OK);
        }
    });
    for (std::uint32_t number = 0; number < 1000; number++) {
        auto pending = client->ask({7, number});
        CHECK(pending && pending->recv()->ask == number + 1.0);
    }
    serving.join();
}

int main() {
    in_any_order();
    waits();
}
