// annulus.hpp: typed channels of all kinds, handles that are moved and free themselves, results.
#include <annulus.hpp>

#include <array>
#include <poll.h>
#include <thread>
#include <vector>

#include "check.h"

struct order {
    std::uint64_t number;
    double price;
};

// A message without a default constructor, of a size that is no multiple of 8.
struct odd {
    explicit odd(int of) : bytes{static_cast<char>(of), 1, 2} {}
    char bytes[3];
};

static_assert(annulus::is_message<order> && annulus::is_message<odd> && annulus::is_message<std::array<int, 3>>);
static_assert(!annulus::is_message<std::vector<int>> && !annulus::is_message<std::unique_ptr<int>>);

template <class T>
inline constexpr bool is_move_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>
    && !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(is_move_only<annulus::spsc::sender<order>> && is_move_only<annulus::spsc::receiver<order>>);
static_assert(is_move_only<annulus::lossy::publisher<order>> && is_move_only<annulus::lossy::subscriber<order>>);
static_assert(is_move_only<annulus::mpsc::sender<order>> && is_move_only<annulus::lossless::subscribable<order>>);
static_assert(is_move_only<annulus::pool::buffer> && is_move_only<annulus::closer>);
// What is received costs no more than itself.
static_assert(std::is_trivially_copyable_v<annulus::result<order>> && sizeof(annulus::result<order>) == sizeof(order) + 8);

static void spsc() {
    auto channel = annulus::spsc::channel<order>({.capacity = 64});
    CHECK(channel && channel.error() == ANNULUS_OK);
    auto &[sender, receiver] = *channel;
    CHECK(sender.capacity() == 64 && receiver.capacity() == 64);
    std::thread thread([sender = std::move(sender)]() mutable {
        auto own = std::move(sender);
        for (std::uint64_t number = 0; number < 10000;) {
            if (number % 2 == 0) {
                WORKS(own.send({number, 0.5}));
                number++;
                continue;
            }
            auto slots = own.reserve(5);
            CHECK(slots && !slots->empty());
            std::size_t count = 0;
            for (auto &slot : *slots) {
                if (number == 10000) break;
                slot = {number++, 0.5};
                count++;
            }
            WORKS(own.commit(count));
        }
    });
    std::uint64_t next = 0;
    for (;;) {
        if (next % 3 == 0) {
            auto there = receiver.wait_readable();
            if (!there) break;
            for (const order &order : *there) CHECK(order.number == next++ && order.price == 0.5);
            WORKS(receiver.advance(there->size()));
        } else {
            auto order = receiver.recv();
            if (!order) break;
            CHECK(order->number == next++);
        }
    }
    CHECK(next == 10000 && receiver.is_closed());
    thread.join();
    CHECK(receiver.try_recv().error() == ANNULUS_CLOSED);
    CHECK(receiver.recv_for(std::chrono::milliseconds(1)).error() == ANNULUS_CLOSED);
}

static void statuses() {
    auto channel = annulus::spsc::channel<odd>({.capacity = 1, .flags = ANNULUS_STATISTICS});
    auto [sender, receiver] = std::move(*channel);
    CHECK(receiver.try_recv().error() == ANNULUS_EMPTY);
    CHECK(receiver.recv_for(std::chrono::microseconds(1)).error() == ANNULUS_TIMEOUT);
    CHECK(receiver.recv_for({}).error() == ANNULUS_TIMEOUT);
    WORKS(sender.try_send(odd(5)));
    RETURNS(ANNULUS_FULL, sender.try_send(odd(6)));
    RETURNS(ANNULUS_TIMEOUT, sender.send_for(odd(6), std::chrono::microseconds(1)));
    RETURNS(ANNULUS_TIMEOUT, sender.send_for(odd(6), {}));
    CHECK(sender.size() == 1 && receiver.size() == 1 && sender.stats()->published == 1);
    CHECK(receiver.try_recv().value_or(odd(9)).bytes[0] == 5 && receiver.try_recv().value_or(odd(9)).bytes[0] == 9);
    auto closer = sender.closer();
    WORKS(closer->close());
    RETURNS(ANNULUS_CLOSED, sender.send(odd(6)));
    CHECK(annulus::spsc::channel<odd>({.capacity = 0}).error() == ANNULUS_INVALID);
    CHECK(std::strlen(annulus::message_of(ANNULUS_CLOSED)) > 0);

    // A handle that was moved from does nothing, and says so; one that is moved to frees what it had.
    auto moved = std::move(receiver);
    CHECK(receiver.try_recv().error() == ANNULUS_INVALID);
    auto other = annulus::spsc::channel<odd>({.capacity = 1});
    moved = std::move(other->second);
    WORKS(other->first.try_send(odd(7)));
    CHECK(moved.try_recv()->bytes[0] == 7);
    moved = std::move(receiver);
    CHECK(other->first.is_closed());
    RETURNS(ANNULUS_CLOSED, other->first.try_send(odd(7)));
}

static void lossy() {
    auto ring = annulus::lossy::channel<order>({.capacity = 8});
    auto [publisher, subscribable] = std::move(*ring);
    auto subscriber = subscribable.subscribe();
    CHECK(subscriber->try_recv().error() == ANNULUS_EMPTY);
    for (std::uint64_t number = 0; number < 20; number++) WORKS(publisher.publish({number, 1.5}));
    auto oldest = subscribable.subscribe_from_oldest();
    CHECK((*subscriber->recv()).number == 12 && subscriber->lagged() == 12);
    auto moved = std::move(*subscriber);
    CHECK(moved.try_recv()->number == 13 && moved.recv_for(std::chrono::seconds(100))->number == 14);
    CHECK(oldest->try_recv()->number == 12 && oldest->lagged() == 0);
    { auto last = std::move(publisher); }
    std::uint64_t next = 15;
    while (auto order = moved.recv()) CHECK(order->number == next++);
    CHECK(next == 20 && moved.is_closed());
    RETURNS(ANNULUS_INVALID, publisher.publish({}));
}

// Whether the descriptor is readable now.
static bool is_told(int fd) {
    pollfd poller = {fd, POLLIN, 0};
    return poll(&poller, 1, 0) == 1;
}

// Arms the descriptor of an empty ring; then `send` tells, and a receive goes on where it was.
template <class Receiver, class Send> static void told(Receiver &receiver, Send send) {
    CHECK(receiver.arm().error() == ANNULUS_INVALID); // there is no descriptor yet
    const auto fd = receiver.fd();
    CHECK(fd && *fd >= 0 && receiver.fd().value() == *fd);
    for (int number = 0; number < 20; number++) {
        CHECK(receiver.arm().value() == false && !is_told(*fd));
        send(number);
        CHECK(is_told(*fd) && receiver.arm().value() == true);
        CHECK(receiver.recv().value() == number && receiver.try_recv().error() == ANNULUS_EMPTY);
        // A receive disarms it.
        CHECK(receiver.arm().value() == false && receiver.recv_for({}).error() == ANNULUS_TIMEOUT);
        send(number);
        CHECK(!is_told(*fd));
        // What is armed may move.
        CHECK(receiver.arm().value() == true);
        auto moved = std::move(receiver);
        CHECK(receiver.arm().error() == ANNULUS_INVALID && receiver.try_recv().error() == ANNULUS_INVALID);
        receiver = std::move(moved);
        CHECK(receiver.try_recv().value() == number);
    }
}

// The verbs of other queues and rings, of those that need no call.
static void fastest() {
    auto channel = annulus::spsc::channel<std::int64_t>({.capacity = 7});
    auto [sender, receiver] = std::move(*channel);
    told(receiver, [&sender = sender](int number) { WORKS(sender.send(number)); });

    // Up to the end of the ring, and from its begin on.
    std::array<std::int64_t, 9> some, back;
    std::int64_t sent = 0, next = 0;
    for (int round = 0; round < 50; round++) {
        for (auto &number : some) number = sent++;
        auto count = sender.try_send_batch(some);
        CHECK(count.value() == 7 - static_cast<std::size_t>(sent - 9 - next));
        sent += static_cast<std::int64_t>(*count) - 9;
        auto received = receiver.try_recv_batch(std::span(back).first(static_cast<std::size_t>(round % 5 + 1)));
        CHECK(received.value() == static_cast<std::size_t>(round % 5 + 1));
        for (std::size_t at = 0; at < *received; at++) CHECK(back[at] == next++);
    }
    while (auto received = receiver.try_recv_batch(back)) next += static_cast<std::int64_t>(*received);
    CHECK(next == sent && receiver.try_recv_batch(back).error() == ANNULUS_EMPTY);
    CHECK(receiver.arm().value() == false && receiver.try_recv_batch(back).error() == ANNULUS_EMPTY);
    CHECK(sender.try_send_batch({}).error() == ANNULUS_INVALID && receiver.try_recv_batch({}).error() == ANNULUS_INVALID);

    CHECK(receiver.readable().error() == ANNULUS_EMPTY);
    CHECK(receiver.readable(std::chrono::microseconds(1)).error() == ANNULUS_TIMEOUT);
    std::thread thread([&sender = sender] { WORKS(sender.send(5)); });
    CHECK(receiver.arm() && receiver.readable(std::chrono::seconds(100))->front() == 5);
    WORKS(receiver.advance(1));
    thread.join();
    WORKS(sender.close());
    CHECK(receiver.arm().value() == true && receiver.readable(std::chrono::seconds(100)).error() == ANNULUS_CLOSED);

    auto ring = annulus::lossy::channel<std::int32_t>({.capacity = 8});
    auto [publisher, subscribable] = std::move(*ring);
    auto subscriber = std::move(*subscribable.subscribe());
    told(subscriber, [&publisher = publisher](int number) { WORKS(publisher.publish(number)); });
    for (int number = 0; number < 20; number++) WORKS(publisher.try_publish(number));
    CHECK(subscriber.size() == 8 && subscriber.recv().value() == 12 && subscriber.lagged() == 12);
    CHECK(subscriber.received() == 41 && subscriber.size() == 7 && subscriber.try_recv().value() == 13);
    WORKS(publisher.publish_for(20, {}));
    CHECK(subscriber.received() == 42 && subscriber.arm().value() == true);
}

// Handles of C, of the ends that have views, too.
template <class Sender, class Send> static void released(Sender &sender, Send send) {
    CHECK(sender && sender.get() != nullptr);
    WORKS(sender.close());
    auto moved = std::move(sender);
    CHECK(!sender && sender.get() == nullptr && sender.release() == nullptr);
    auto *const raw = moved.release();
    CHECK(raw != nullptr && !moved && moved.get() == nullptr);
    // Without a view, so the verbs of C are its own; the caller frees it.
    RETURNS(ANNULUS_CLOSED, send(raw));
}

static void ownership() {
    const std::int64_t number = 7;
    auto [sender, receiver] = std::move(*annulus::spsc::channel<std::int64_t>({.capacity = 4}));
    RETURNS(ANNULUS_VIEWED, annulus_producer_try_send(sender.get(), &number, sizeof number));
    WORKS(sender.send(number));
    CHECK(annulus_consumer_len(receiver.get()) == 1);
    released(sender, [&](annulus_producer *raw) {
        const annulus_status found = annulus_producer_try_send(raw, &number, sizeof number);
        WORKS(annulus_producer_free(raw));
        return found;
    });
    CHECK(receiver.recv().value() == number);
    released(receiver, [](annulus_consumer *raw) {
        std::int64_t into;
        const annulus_status found = annulus_consumer_try_recv(raw, &into, sizeof into);
        WORKS(annulus_consumer_free(raw));
        return found;
    });

    auto [publisher, subscribable] = std::move(*annulus::lossy::channel<std::int64_t>({.capacity = 4}));
    auto subscriber = std::move(*subscribable.subscribe());
    for (int published = 0; published < 9; published++) WORKS(publisher.publish(number));
    CHECK(subscriber.cursor() == 0 && subscriber.recv() && subscriber.cursor() == 6 && subscriber.recv() && subscriber.cursor() == 7);
    released(publisher, [&](annulus_publisher *raw) {
        const annulus_status found = annulus_publisher_publish(raw, &number, sizeof number);
        WORKS(annulus_publisher_free(raw));
        return found;
    });
    CHECK(subscriber && subscriber.recv() && subscriber.recv() && subscriber.recv().error() == ANNULUS_CLOSED);
    auto *const raw = subscriber.release();
    CHECK(!subscriber && annulus_subscriber_received(raw) == 4);
    WORKS(annulus_subscriber_free(raw));
}

// Where they lie: in the queues of one consumer.
template <class Channel> static void in_place(Channel made) {
    auto &[sender, receiver] = *made;
    CHECK(receiver.readable().error() == ANNULUS_EMPTY);
    CHECK(receiver.readable(std::chrono::microseconds(1)).error() == ANNULUS_TIMEOUT);
    auto slots = sender.try_reserve(3);
    CHECK(slots && slots->size() == 3);
    for (std::int64_t number = 0; number < 3; number++) (*slots)[static_cast<std::size_t>(number)] = number;
    WORKS(sender.commit(3));
    CHECK(sender.reserve(9)->size() == 1);
    WORKS(sender.commit(0));
    CHECK(sender.reserve_for(9, std::chrono::seconds(100))->size() == 1);
    WORKS(sender.commit(1));
    CHECK(sender.try_reserve(1).error() == ANNULUS_FULL);
    CHECK(sender.reserve_for(1, std::chrono::microseconds(1)).error() == ANNULUS_TIMEOUT);
    CHECK(sender.reserve_for(1, {}).error() == ANNULUS_TIMEOUT);
    auto there = receiver.wait_readable();
    CHECK(there && there->size() == 4 && (*there)[2] == 2);
    WORKS(receiver.advance(3));
    WORKS(sender.close());
    CHECK(receiver.readable()->size() == 1);
    WORKS(receiver.advance(1));
    CHECK(receiver.wait_readable().error() == ANNULUS_CLOSED && sender.reserve_for(1, {}).error() == ANNULUS_CLOSED);
}

template <class Channel> static void queue_of(Channel made, int senders, int receivers) {
    CHECK(made);
    auto &[sender, receiver] = *made;
    WORKS(sender.try_send(7));
    CHECK(receiver.try_recv().value() == 7 && receiver.try_recv().error() == ANNULUS_EMPTY);
    auto another = sender.clone();
    CHECK(another.has_value() == (senders > 1));
    if (another) WORKS(another->send(8));
    else WORKS(sender.send(8));
    auto divided = receiver.clone();
    CHECK(divided.has_value() == (receivers > 1));
    CHECK((divided ? *divided : receiver).recv_for(std::chrono::seconds(100)).value() == 8);
    const std::array<int, 3> some = {1, 2, 3};
    CHECK(*sender.try_send_batch(some) == 3);
    std::array<int, 4> back = {};
    std::size_t received = 0;
    while (received < 3) received += *receiver.try_recv_batch(std::span(back).subspan(received));
    CHECK(back[0] + back[1] + back[2] == 6);
    WORKS(sender.close());
    CHECK(receiver.recv().error() == ANNULUS_CLOSED);
}

template <class Channel> static void ring_of(Channel made) {
    auto &[publisher, subscribable] = *made;
    auto subscriber = subscribable.subscribe();
    WORKS(publisher.publish(7));
    WORKS(publisher.publish_for(8, std::chrono::seconds(100)));
    WORKS(publisher.try_publish(9));
    CHECK(subscriber->recv().value() == 7 && subscriber->try_recv().value() == 8 && subscriber->size() == 1);
    CHECK(subscriber->recv_for(std::chrono::seconds(100)).value() == 9 && subscriber->received() == 3);
    CHECK(subscriber->lagged() == 0 && publisher.capacity() == 8);
    WORKS(publisher.close());
    CHECK(subscriber->recv().error() == ANNULUS_CLOSED);
}

// Blocks of bytes, of a size that the program knows when it runs.
static void untyped() {
    auto queue = annulus::queue(ANNULUS_MPSC, {.capacity = 4}, 12);
    auto &[producer, consumer] = *queue;
    std::array<std::byte, 12> message{};
    message[11] = std::byte{5};
    WORKS(producer.send(message));
    RETURNS(ANNULUS_WRONG_SIZE, producer.try_send(std::span(message).first(4)));
    auto slots = producer.try_reserve(2, 12);
    CHECK(slots->count == 2 && slots->stride == 16);
    for (std::size_t index = 0; index < 2; index++) std::memcpy((*slots)[index].data(), message.data(), 12);
    WORKS(producer.commit(2));
    CHECK(producer.reserve_for(2, 12, std::chrono::seconds(100))->count == 1);
    WORKS(producer.commit(0));
    auto there = consumer.wait_readable(12);
    CHECK(there->count == 3 && (*there)[2].size() == 12 && (*there)[2][11] == std::byte{5});
    WORKS(consumer.advance(2));
    message = {};
    WORKS(consumer.recv(message));
    CHECK(message[11] == std::byte{5} && consumer.arm().error() == ANNULUS_INVALID);
}

static void pool() {
    auto pool = annulus::pool::make(100, 2);
    {
        auto buffer = pool->alloc();
        CHECK(buffer->bytes().size() == 100 && pool->available() == 1);
        buffer->bytes()[99] = std::byte{3};
        const std::uint32_t number = std::move(*buffer).pass();
        auto redeemed = pool->redeem(number);
        CHECK(redeemed->bytes()[99] == std::byte{3} && pool->redeem(number).error() == ANNULUS_NOT_A_HANDLE);
        auto last = pool->alloc();
        CHECK(pool->alloc().error() == ANNULUS_EMPTY);
        *last = std::move(*redeemed);
        CHECK(pool->available() == 1);
    }
    CHECK(pool->available() == 2);
}

int main() {
    spsc();
    statuses();
    lossy();
    fastest();
    ownership();
    in_place(annulus::spsc::channel<std::int64_t>({.capacity = 4}));
    in_place(annulus::mpsc::channel<std::int64_t>({.capacity = 4}));
    queue_of(annulus::mpsc::channel<int>({.capacity = 8}), 2, 1);
    queue_of(annulus::spmc::channel<int>({.capacity = 8}), 1, 2);
    queue_of(annulus::mpmc::channel<int>({.capacity = 8}), 2, 2);
    queue_of(annulus::ordered::channel<int>({.capacity = 8}), 2, 2);
    ring_of(annulus::lossless::channel<int>({.capacity = 8}));
    ring_of(annulus::mp_lossy::channel<int>({.capacity = 8}));
    ring_of(annulus::mp_lossless::channel<int>({.capacity = 8}));
    untyped();
    pool();
}
