// annulus/frames.hpp: frames of values, here with both sides in one process.
#include <annulus/frames.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "check.h"

namespace shm = annulus::shm;
using namespace std::chrono_literals;

struct point {
    float x, y;
};
template <> inline constexpr const char *annulus::shm::schema<point> = "point{x:f32,y:f32}";

static void in_place() {
    auto made = shm::frames::publishes<point>({.capacity = 4}, {.frame_bytes = 1000, .alignment = 4096, .held = 3});
    CHECK(made);
    auto &[publisher, invitation] = *made;
    CHECK(publisher.frames() == 4 + 16 * 3 + 1 && publisher.lent() == SIZE_MAX);
    shm::error why;
    CHECK(shm::frames::subscribes<float>(invitation, {}, false, true, &why).error() == ANNULUS_MISMATCH);
    CHECK(why.found == annulus_fingerprint("point{x:f32,y:f32}") && why.message().find("point") != std::string_view::npos);
    CHECK(publisher.loan(126).error() == ANNULUS_WRONG_SIZE && publisher.loan(SIZE_MAX).error() == ANNULUS_WRONG_SIZE);
    CHECK(publisher.publish(1).error() == ANNULUS_INVALID);

    auto subscriber = shm::frames::subscribes<point>(invitation);
    CHECK(subscriber && subscriber->frames() == publisher.frames() && subscriber->peer().value() == ANNULUS_PEER_ALIVE);
    CHECK(subscriber->try_recv().error() == ANNULUS_EMPTY && subscriber->recv(1ms).error() == ANNULUS_TIMEOUT);
    CHECK(subscriber->fd().value() >= 0 && !subscriber->arm().value());
    std::vector<shm::frames::frame<point>> held;
    for (int number = 0; number < 3; number++) {
        auto loan = publisher.loan(100);
        CHECK(loan && loan->size() == 100 && reinterpret_cast<std::uintptr_t>(loan->data()) % 4096 == 0);
        std::ranges::fill(*loan, point{1.5f, static_cast<float>(number)});
        CHECK(publisher.publish(10).value() == static_cast<std::uint64_t>(number));
        held.push_back(std::move(*subscriber->recv()));
    }
    for (int number = 3; number < 50; number++) {
        CHECK(publisher.loan(1) && publisher.publish(1));
    }
    CHECK(publisher.held() == 3 && subscriber->try_recv().error() == ANNULUS_VIEWED);
    for (int number = 0; number < 3; number++) {
        const auto &frame = held[static_cast<std::size_t>(number)];
        CHECK(frame.values().size() == 10 && frame.sequence() == static_cast<std::uint64_t>(number) && frame.index() < publisher.frames());
        CHECK(frame.values()[9].x == 1.5f && frame.values()[9].y == static_cast<float>(number));
    }
    held.clear();
    CHECK(publisher.held() == 0);
    auto newest = subscriber->latest();
    CHECK(newest && newest->sequence() == 49 && subscriber->lagged() == 46);
    auto kept = std::move(*newest);
    { auto gone = std::move(publisher); }
    CHECK(subscriber->recv().error() == ANNULUS_CLOSED && subscriber->peer().value() == ANNULUS_PEER_CLOSED);
    { auto gone = std::move(*subscriber); }
    CHECK(kept.values().size() == 1);
}

static void waits() {
    auto made = shm::frames::publishes<std::byte>({.capacity = 2, .places = 2}, {.frame_bytes = 64, .lossless = true});
    auto &[publisher, invitation] = *made;
    auto subscriber = shm::frames::subscribes<std::byte>(invitation);
    auto viewer = shm::frames::subscribes<std::byte>(invitation, {}, false, false);
    CHECK(shm::frames::subscribes<std::byte>(invitation).error() == ANNULUS_OCCUPIED);
    std::thread reading([&] {
        for (std::uint64_t number = 0; number < 1000; number++) {
            auto frame = subscriber->recv();
            CHECK(frame && frame->sequence() == number && frame->values().size() == number % 64);
        }
    });
    for (std::uint64_t number = 0; number < 1000; number++) {
        CHECK(publisher.loan(number % 64) && publisher.publish(number % 64).value() == number);
    }
    reading.join();
    CHECK(subscriber->lagged() == 0 && viewer->latest().value().sequence() == 999);
    CHECK(publisher.loan(1) && publisher.publish(1) && publisher.loan(1) && publisher.publish(1));
    CHECK(publisher.loan(1) && publisher.publish(1, 0ns).error() == ANNULUS_FULL);
    CHECK(publisher.publish(1, 1ms).error() == ANNULUS_TIMEOUT && subscriber->latest().error() == ANNULUS_UNSUPPORTED);
}

int main() {
    in_place();
    waits();
}
