// annulus/bytes.hpp, and `shm::bytes`: records of any length, reservations that end by themselves.
#include <annulus/shm.hpp>

#include <array>
#include <string_view>
#include <thread>

#include "check.h"

namespace bytes = annulus::bytes;

static std::span<const std::byte> of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

static bool is(std::span<const std::byte> record, std::string_view text) {
    return record.size() == text.size() && std::memcmp(record.data(), text.data(), text.size()) == 0;
}

template <class T>
inline constexpr bool is_move_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>
    && !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(is_move_only<bytes::producer> && is_move_only<bytes::consumer> && is_move_only<bytes::reservation>);
static_assert(is_move_only<bytes::publisher> && is_move_only<bytes::subscriber> && is_move_only<bytes::subscribable>);

// What both kinds of queue do.
static void sends(bytes::producer &producer, bytes::consumer &consumer) {
    std::array<std::byte, 32> buffer;
    CHECK(producer.capacity() == 64 && consumer.capacity() == 64 && producer.max_len() == 32 && consumer.max_len() == 32);
    CHECK(consumer.try_recv(buffer).error() == ANNULUS_EMPTY && consumer.readable().error() == ANNULUS_EMPTY);
    CHECK(consumer.recv_for(buffer, {}).error() == ANNULUS_TIMEOUT && producer.is_empty() && consumer.is_empty());
    CHECK(consumer.readable(std::chrono::microseconds(1)).error() == ANNULUS_TIMEOUT);
    WORKS(producer.send(of("hello")));
    WORKS(producer.try_send({}));
    WORKS(producer.send_for(of("and more"), std::chrono::seconds(100)));
    CHECK(is(*consumer.recv(buffer), "hello") && consumer.try_recv({})->empty());
    std::size_t needed = 0;
    CHECK(consumer.recv(std::span(buffer).first(7), &needed).error() == ANNULUS_TOO_SMALL && needed == 8);
    CHECK(is(*consumer.recv_for(std::span(buffer).first(needed), {}, &needed), "and more") && needed == 8);

    // In place; what is not committed is not sent.
    {
        auto dropped = producer.try_reserve(8);
        CHECK(dropped && dropped->bytes().size() == 8);
        RETURNS(ANNULUS_RESERVED, producer.send(of("no")));
        CHECK(producer.reserve(1).error() == ANNULUS_RESERVED);
        auto moved = std::move(*dropped);
        CHECK(dropped->bytes().empty());
        RETURNS(ANNULUS_INVALID, dropped->commit(1));
        RETURNS(ANNULUS_INVALID, moved.commit(9));
    }
    auto reserved = producer.reserve(20);
    std::memcpy(reserved->bytes().data(), "up", 2);
    WORKS(reserved->commit(2));
    RETURNS(ANNULUS_INVALID, reserved->commit());
    *reserved = std::move(*producer.reserve_for(3, {}));
    std::memcpy(reserved->bytes().data(), "all", 3);
    WORKS(reserved->commit());
    CHECK(producer.reserve(33).error() == ANNULUS_WRONG_SIZE);
    CHECK(is(*consumer.readable(), "up") && is(*consumer.wait_readable(), "up"));
    WORKS(consumer.advance());
    RETURNS(ANNULUS_INVALID, consumer.advance());
    CHECK(is(*consumer.wait_readable(), "all") && is(*consumer.recv(buffer), "all"));
    CHECK(producer.stats()->published == consumer.stats()->received);
}

static void queue() {
    auto made = bytes::queue({.capacity = 64});
    auto [producer, consumer] = std::move(*made);
    sends(producer, consumer);
    CHECK(producer.peer().error() == ANNULUS_UNSUPPORTED && bytes::queue({.capacity = 1}).error() == ANNULUS_INVALID);
    CHECK(consumer.arm().error() == ANNULUS_INVALID && consumer.fd() && consumer.arm().value() == false);
    std::thread thread([moved = std::move(producer)]() mutable {
        auto out = std::move(moved);
        for (int number = 0; number < 1000; number++) {
            auto record = out.reserve(static_cast<std::size_t>(number % 33));
            for (auto &byte : record->bytes()) byte = std::byte(number % 251);
            WORKS(record->commit());
        }
    });
    int next = 0;
    for (; auto record = consumer.wait_readable(); next++) {
        CHECK(record->size() == static_cast<std::size_t>(next % 33));
        for (auto byte : *record) CHECK(byte == std::byte(next % 251));
        WORKS(consumer.advance());
    }
    CHECK(next == 1000 && consumer.is_closed() && consumer.closer());
    thread.join();
    RETURNS(ANNULUS_INVALID, producer.send({}));
}

static void broadcast() {
    auto made = bytes::broadcast({.capacity = 100});
    auto [publisher, subscribable] = std::move(*made);
    CHECK(publisher.capacity() == 128 && publisher.max_len() == 64);
    auto subscriber = subscribable.subscribe();
    std::array<std::byte, 64> buffer;
    CHECK(subscriber->max_len() == 64 && subscriber->try_recv(buffer).error() == ANNULUS_EMPTY);
    CHECK(subscriber->fd() && subscriber->arm().value() == false);
    RETURNS(ANNULUS_WRONG_SIZE, publisher.publish(of(std::string_view("0123456789012345678901234567890123456789012345678901234567890123456789"))));
    for (const char *text : {"one", "two and a half", "three", "four, the last"}) WORKS(publisher.publish(of(text)));
    auto late = subscribable.subscribe_from_oldest();
    std::size_t needed = 0;
    CHECK(late->size() == subscriber->size() && subscriber->size() > 0 && subscriber->size() <= 4);
    while (subscriber->size() > 1) CHECK(subscriber->recv(buffer));
    CHECK(subscriber->recv({}, &needed).error() == ANNULUS_TOO_SMALL && needed == 14 && subscriber->size() == 1);
    CHECK(is(*subscriber->recv_for(std::span(buffer).first(14), {}), "four, the last"));
    CHECK(subscriber->received() + subscriber->lagged() == 4 && late->lagged() == 0);
    WORKS(publisher.close());
    CHECK(publisher.is_closed() && subscriber->recv(buffer).error() == ANNULUS_CLOSED);
}

static void lossless() {
    auto [publisher, subscribable] = std::move(*bytes::broadcast(ANNULUS_LOSSLESS, {.capacity = 64}));
    auto subscriber = std::move(*subscribable.subscribe());
    std::array<std::byte, 32> buffer{};
    RETURNS(ANNULUS_WRONG_SIZE, publisher.try_publish(std::array<std::byte, 33>{}));
    WORKS(publisher.try_publish(buffer));
    WORKS(publisher.publish_for(of("next"), std::chrono::seconds(100)));
    RETURNS(ANNULUS_FULL, publisher.try_publish(buffer));
    RETURNS(ANNULUS_TIMEOUT, publisher.publish_for(buffer, std::chrono::microseconds(1)));
    CHECK(subscriber.recv(buffer)->size() == 32 && is(*subscriber.recv(buffer), "next"));
    WORKS(publisher.publish(buffer));
    CHECK(subscriber.received() == 2 && subscriber.lagged() == 0 && subscriber.size() == 1);
    CHECK(bytes::broadcast(ANNULUS_MP_LOSSY, {.capacity = 64}).error() == ANNULUS_INVALID);
}

static void between_processes() {
    namespace shm = annulus::shm;
    auto made = shm::bytes::producer({.capacity = 64});
    auto &[producer, invitation] = *made;
    CHECK(producer.peer().value() == ANNULUS_PEER_NONE);
    shm::error why;
    CHECK(shm::spsc::consumer<std::uint64_t>(invitation, {}, &why).error() == ANNULUS_MISMATCH && !why.message().empty());
    auto consumer = shm::bytes::consumer(invitation, {}, &why);
    CHECK(consumer && shm::bytes::consumer(invitation).error() == ANNULUS_OCCUPIED && consumer->peer().value() == ANNULUS_PEER_ALIVE);
    sends(producer, *consumer);
    { auto gone = std::move(producer); }
    CHECK(consumer->recv({}).error() == ANNULUS_CLOSED && consumer->peer().value() == ANNULUS_PEER_CLOSED);
    auto other = shm::spsc::producer<std::uint64_t>({.capacity = 4});
    CHECK(shm::bytes::consumer(other->second).error() == ANNULUS_MISMATCH);
}

int main() {
    queue();
    broadcast();
    lossless();
    between_processes();
}
