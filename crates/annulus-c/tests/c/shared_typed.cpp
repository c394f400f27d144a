// annulus/shm.hpp: rings between processes of all kinds, here with both sides in one process.
#include <annulus/shm.hpp>
#include <annulus_message.h>

#include <string>
#include <sys/socket.h>

#include "check.h"

namespace shm = annulus::shm;

struct quote {
    std::uint32_t number;
    float price;
};
struct other {
    std::uint32_t number;
    float price;
};
template <> inline constexpr const char *annulus::shm::schema<quote> = "quote{number:u32,price:f32}";
template <> inline constexpr const char *annulus::shm::schema<other> = "other{number:u32,price:f32}";

static void queue() {
    auto made = shm::spsc::producer<quote>({.capacity = 3});
    CHECK(made);
    auto &[sender, invitation] = *made;
    CHECK(sender.peer().value() == ANNULUS_PEER_NONE && sender.capacity() == 3);

    // Another type of the same size: both sides' numbers, and words.
    shm::error why;
    CHECK(shm::spsc::consumer<other>(invitation, {}, &why).error() == ANNULUS_MISMATCH);
    CHECK(why.found != why.wanted && !why.message().empty());
    CHECK(why.found == annulus_fingerprint("quote{number:u32,price:f32}"));
    // Another kind of ring.
    CHECK(shm::subscribes<quote>(invitation).error() == ANNULUS_MISMATCH);

    // Through a socket, as to another process.
    int sockets[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    WORKS(invitation.send(sockets[0]));
    auto received = shm::invitation::receive(sockets[1]);
    CHECK(received && close(sockets[0]) == 0 && close(sockets[1]) == 0);
    auto receiver = shm::spsc::consumer<quote>(*received);
    CHECK(receiver && shm::spsc::consumer<quote>(*received).error() == ANNULUS_OCCUPIED);
    CHECK(sender.peer().value() == ANNULUS_PEER_ALIVE && receiver->peer().value() == ANNULUS_PEER_ALIVE);

    WORKS(sender.send({1, 1.5}));
    auto slots = sender.untyped().try_reserve(2, sizeof(quote));
    CHECK(slots && slots->count == 2 && slots->stride == sizeof(quote));
    const quote second = {2, 2.5};
    std::memcpy((*slots)[0].data(), &second, sizeof second);
    WORKS(sender.commit(1));
    CHECK(receiver->recv()->price == 1.5f && receiver->try_recv()->number == 2);
    CHECK(receiver->try_recv().error() == ANNULUS_EMPTY);
    { auto gone = std::move(sender); }
    CHECK(receiver->recv().error() == ANNULUS_CLOSED && receiver->peer().value() == ANNULUS_PEER_CLOSED);
    // Within one process, nobody else is a peer.
    auto own = annulus::mpsc::channel<int>({.capacity = 1});
    CHECK(own->first.peer().error() == ANNULUS_UNSUPPORTED);
}

#define SIDE(VARIANT, of) VARIANT(of, buy, 0) VARIANT(of, sell, 1)
#define ORDER(FIELD) FIELD(u16, number) FIELD(enum(u8, SIDE), side) FIELD(bool, live)
ANNULUS_ENUM(side, SIDE);
ANNULUS_MESSAGE(order, ORDER);
template <> inline constexpr const char *annulus::shm::schema<order> = ANNULUS_SCHEMA(order, ORDER);

// Of a type that has been declared with its schema, what is no message is told and counted.
static void checked() {
    auto made = shm::mpsc::consumer<order>({.capacity = 4});
    auto &[receiver, invitation] = *made;
    auto sender = shm::mpsc::producer<order>(invitation);
    const unsigned char bad[] = {1, 0, side_sell, 2};
    WORKS(sender->send({1, side_sell, true}));
    WORKS(sender->untyped().send(std::as_bytes(std::span(bad))));
    WORKS(sender->send({3, side_buy, false}));
    CHECK(receiver.recv()->number == 1 && receiver.recv().error() == ANNULUS_CORRUPT);
    CHECK(receiver.try_recv()->number == 3 && receiver.corrupt() == 1);
}

static void queue_of_many() {
    auto made = shm::mpsc::consumer<std::uint64_t>({.capacity = 4, .places = 2, .flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER});
    auto &[receiver, invitation] = *made;
    {
        auto one = shm::mpsc::producer<std::uint64_t>(invitation);
        auto two = shm::mpsc::producer<std::uint64_t>(invitation);
        CHECK(one && two && shm::mpsc::producer<std::uint64_t>(invitation).error() == ANNULUS_OCCUPIED);
        WORKS(one->send(3));
        WORKS(two->send(4));
    }
    CHECK(receiver.recv().value() + receiver.recv().value() == 7 && receiver.recv().error() == ANNULUS_CLOSED);
}

static void shared_queue() {
    auto made = shm::mpmc::queues<quote>({.capacity = 4, .places = 2, .receivers = 1});
    CHECK(made);
    auto &[queue, invitation] = *made;
    auto sender = shm::mpmc::producer<quote>(invitation);
    auto worker = shm::mpmc::consumer<quote>(invitation);
    CHECK(sender && worker && shm::mpmc::consumer<quote>(invitation).error() == ANNULUS_OCCUPIED);
    CHECK(queue.producers() == 1 && queue.consumers() == 1 && worker->claim({}).error() == ANNULUS_EMPTY);
    WORKS(sender->send({1, 1.5}));
    WORKS(sender->send({2, 2.5}));
    {
        auto claimed = worker->claim();
        CHECK(claimed->message().number == 1 && claimed->given_before() == 0);
    }
    auto claimed = worker->claim(std::chrono::seconds(60));
    CHECK(claimed->message().number == 1 && claimed->given_before() == 1);
    auto moved = std::move(*claimed);
    WORKS(std::move(moved).done());
    CHECK(queue.given_again() == 1 && queue.dropped() == 0 && queue.size() == 1 && sender->size() == 1);
    auto looks = shm::mpmc::queues<quote>(invitation);
    WORKS(looks->close());
    CHECK(queue.is_closed() && sender->send({3, 3.5}) == ANNULUS_CLOSED);
    CHECK(worker->recv()->number == 2 && worker->claim().error() == ANNULUS_CLOSED);
}

// One that has promised not to be silent, and hangs; and numbers that go on.
static void deadline(const char *directory) {
    constexpr auto deadline = std::chrono::milliseconds(1);
    for (std::uint64_t life = 0; life < 2; life++) {
        auto made = shm::lossy::publishes<double>(
            {.capacity = 8, .deadline = deadline, .numbering = "prices", .numbering_directory = directory});
        CHECK(made);
        auto subscriber = shm::subscribes<double>(made->second)->subscribe();
        CHECK(subscriber->cursor() == life);
        CHECK(subscriber->deadline() == deadline && subscriber->overdue().count() == 0);
        CHECK(subscriber->recv_for(deadline).error() == ANNULUS_TIMEOUT && subscriber->overdue() >= deadline);
        WORKS(made->first.publish(1));
        CHECK(subscriber->overdue().count() == 0);
    }
}

template <class Made> static void ring(Made made) {
    CHECK(made);
    auto &[publisher, invitation] = *made;
    auto subscribable = shm::subscribes<double>(invitation);
    auto subscriber = subscribable->subscribe();
    CHECK(subscriber && subscriber->peer().value() == ANNULUS_PEER_ALIVE);
    WORKS(publisher.publish(0.25));
    CHECK(subscriber->recv().value() == 0.25 && subscriber->lagged() == 0);
    WORKS(publisher.close());
    CHECK(subscriber->recv().error() == ANNULUS_CLOSED);
}

static void names(const char *directory) {
    shm::error why;
    CHECK(shm::invitation::find(directory, "prices", {}, &why).error() == ANNULUS_NOT_FOUND);
    auto made = shm::mp_lossy::publishes<double>({.capacity = 8, .places = 2});
    auto name = made->second.publish(directory, "prices");
    CHECK(name && made->second.publish(directory, "no/name").error() == ANNULUS_INVALID);
    auto invitation = shm::invitation::find(directory, "prices", shm::forever);
    auto another = shm::mp_lossy::publishes<double>(*invitation);
    CHECK(invitation && another);
    auto subscriber = shm::subscribes<double>(*invitation)->subscribe();
    WORKS(made->first.publish(1));
    WORKS(another->publish(2));
    CHECK(subscriber->recv().value() + subscriber->recv().value() == 3);
    { auto given_back = std::move(*name); }
    CHECK(shm::invitation::find(directory, "prices").error() == ANNULUS_NOT_FOUND);
}

int main() {
    queue();
    queue_of_many();
    checked();
    ring(shm::lossy::publishes<double>({.capacity = 8}));
    ring(shm::lossless::publishes<double>({.capacity = 8, .places = 2}));
    ring(shm::mp_lossy::publishes<double>({.capacity = 8}));
    auto several = shm::mp_lossless::publishes<double>({.capacity = 8, .places = 2, .receivers = 1});
    auto another = shm::mp_lossless::publishes<double>(several->second);
    CHECK(another && shm::mp_lossless::publishes<double>(several->second).error() == ANNULUS_OCCUPIED);
    ring(std::move(several));
    shared_queue();
    char directory[] = "/tmp/annulus-typed-XXXXXX";
    CHECK(mkdtemp(directory) != nullptr);
    names(directory);
    deadline(directory);
    CHECK(std::system((std::string("rm -r ") + directory).c_str()) == 0);
}
