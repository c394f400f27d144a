// Many producers, each with a ring of its own, and a consumer that takes batches. Each producer's messages arrive in its order.
#include <annulus.hpp>

#include <array>
#include <thread>
#include <vector>

struct record {
    std::uint32_t producer, number;
};

constexpr std::uint32_t producers = 4, each = 5000;

int main() {
    auto channel = annulus::mpsc::channel<record>({.capacity = 100});
    if (!channel) return channel.error();
    auto &[first, receiver] = *channel;

    std::vector<std::thread> threads;
    for (std::uint32_t producer = 0; producer < producers; producer++) {
        auto sender = first.clone();
        if (!sender) return sender.error();
        threads.emplace_back([producer, out = std::move(*sender)]() mutable {
            for (std::uint32_t number = 0; number < each; number++) {
                if (out.send({producer, number}) != ANNULUS_OK) return;
            }
            { auto ended = std::move(out); } // the last sender closes the queue
        });
    }
    { auto ended = std::move(first); }

    std::array<std::uint32_t, producers> next = {};
    std::array<record, 16> batch;
    std::uint32_t total = 0;
    for (;;) {
        auto some = receiver.try_recv_batch(batch);
        std::size_t count = some.value_or(0);
        if (some.error() == ANNULUS_CLOSED) break;
        if (some.error() == ANNULUS_EMPTY) {
            auto one = receiver.recv(); // waits
            if (!one) break;
            batch[0] = *one;
            count = 1;
        }
        for (const record &record : std::span(batch).first(count)) {
            if (record.number != next[record.producer]++) return 1;
            total++;
        }
    }
    for (auto &thread : threads) thread.join();
    return total == producers * each ? 0 : 1;
}
