// Annulus from C and C++ at the same work as the rows of `../src/rows`: by annulus_inline.h, and by calls of the library.

#include "guest.hpp"

#include <annulus.hpp>

template <class Result> static auto made(Result result) {
    require(result.has_value(), "no ring");
    return std::move(*result);
}

static double one_tried(const Plan &plan) {
    auto [sender, receiver] = made(annulus::spsc::channel<Message>({.capacity = plan.capacity}));
    return stream(
        plan, [own = std::move(sender)](Message message) mutable { return own.try_send(message) == ANNULUS_OK; },
        [own = std::move(receiver)](Message &message) mutable {
            auto received = own.try_recv();
            return received && (message = *received, true);
        });
}

static double one_waiting(const Plan &plan) {
    auto [sender, receiver] = made(annulus::spsc::channel<Message>({.capacity = plan.capacity}));
    return stream(
        plan, [own = std::move(sender)](Message message) mutable { return own.send(message) == ANNULUS_OK; },
        [own = std::move(receiver)](Message &message) mutable {
            auto received = own.recv();
            return received && (message = *received, true);
        });
}

static double one_tried_by_calls(const Plan &plan) {
    auto [producer, consumer] = made(annulus::queue(ANNULUS_SPSC, {.capacity = plan.capacity}, sizeof(Message)));
    return stream(
        plan,
        [own = producer.get()](Message message) {
            return annulus_producer_try_send(own, &message, sizeof message) == ANNULUS_OK;
        },
        [own = consumer.get()](Message &message) {
            return annulus_consumer_try_recv(own, &message, sizeof message) == ANNULUS_OK;
        });
}

// In batches of 64, written and read where they lie.
static double in_place(const Plan &plan) {
    auto [sender, receiver] = made(annulus::spsc::channel<Message>({.capacity = plan.capacity}));
    const Message total = plan.warm_up + plan.messages;
    std::thread thread([&plan, total, own = std::move(receiver)]() mutable {
        pin(plan.there);
        auto in = std::move(own);
        for (Message next = 0; next < total;) {
            auto there = in.readable();
            if (!there) {
                relax();
                continue;
            }
            const std::size_t count = there->size() < 64 ? there->size() : 64;
            Message wrong = 0;
            for (std::size_t index = 0; index < count; index++) wrong |= (*there)[index] ^ mix(next + index);
            require(wrong == 0, "a message is not that of its sequence");
            next += count;
            require(in.advance(count) == ANNULUS_OK, "can't advance");
        }
    });
    auto out = std::move(sender);
    Clock::time_point begun;
    for (const Message end : {plan.warm_up, total}) {
        Message next = end == total ? plan.warm_up : 0;
        begun = Clock::now();
        while (next < end) {
            auto slots = out.try_reserve(end - next < 64 ? end - next : 64);
            if (!slots) {
                relax();
                continue;
            }
            for (Message &slot : *slots) slot = mix(next++);
            require(out.commit(slots->size()) == ANNULUS_OK, "can't commit");
        }
    }
    thread.join();
    return ns_each(begun, plan.messages);
}

// On one thread. The warm-up is a lap.
static double publish(const Plan &plan, bool receives) {
    auto [publisher, subscribable] = made(annulus::lossy::channel<Message>({.capacity = plan.capacity}));
    auto out = std::move(publisher);
    auto in = made(subscribable.subscribe());
    Clock::time_point begun;
    const Message warm_up = plan.capacity, total = warm_up + plan.messages;
    for (const Message end : {warm_up, total}) {
        begun = Clock::now();
        for (Message i = end == total ? warm_up : 0; i < end; i++) {
            require(out.publish(mix(i)) == ANNULUS_OK, "it is closed");
            if (receives) {
                auto received = in.try_recv();
                require(received && *received == mix(i), "a message is not that of its sequence");
            }
        }
    }
    const double ns = ns_each(begun, plan.messages);
    if (!receives) {
        auto received = in.try_recv();
        require(received && *received == mix(in.lagged()), "a message is not that of its sequence");
    }
    return ns;
}

// To a reader on the other core, which receives what it can.
static double live(const Plan &plan) {
    auto [publisher, subscribable] = made(annulus::lossy::channel<Message>({.capacity = plan.capacity}));
    std::atomic<bool> ready{false}, done{false};
    std::thread thread([&, own = made(subscribable.subscribe())]() mutable {
        pin(plan.there);
        auto in = std::move(own);
        ready = true;
        Message last = 0;
        for (;;) {
            auto message = in.try_recv();
            if (message) {
                require(*message != last, "a message came twice");
                last = *message;
            } else if (done.load(std::memory_order_relaxed)) {
                break;
            }
        }
    });
    while (!ready) relax();
    auto out = std::move(publisher);
    Clock::time_point begun;
    const Message total = plan.warm_up + plan.messages;
    for (const Message end : {plan.warm_up, total}) {
        begun = Clock::now();
        for (Message i = end == total ? plan.warm_up : 0; i < end; i++) require(out.publish(mix(i)) == ANNULUS_OK, "it is closed");
    }
    const double ns = ns_each(begun, plan.messages);
    done = true;
    thread.join();
    return ns;
}

static double work(const char *work, const Plan &plan) {
    if (!std::strcmp(work, "one-tried")) return one_tried(plan);
    if (!std::strcmp(work, "one-tried-by-calls")) return one_tried_by_calls(plan);
    if (!std::strcmp(work, "one-waiting")) return one_waiting(plan);
    if (!std::strcmp(work, "in-place")) return in_place(plan);
    if (!std::strcmp(work, "publish")) return publish(plan, false);
    if (!std::strcmp(work, "publish-and-receive")) return publish(plan, true);
    if (!std::strcmp(work, "live")) return live(plan);
    require(false, "no such work");
    return 0;
}

int main(int count, char **arguments) { return guest(count, arguments, work); }
