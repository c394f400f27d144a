// Frames that are too large to copy lie in a pool; the numbers of their buffers go through a queue.
#include <annulus.hpp>

#include <algorithm>
#include <thread>

struct frame {
    std::uint32_t buffer, number;
};

constexpr std::uint32_t frames = 1000;

int main() {
    auto pool = annulus::pool::make(10000, 4);
    auto channel = annulus::spsc::channel<frame>({.capacity = 4});
    if (!pool || !channel) return 1;
    auto &[sender, receiver] = *channel;

    std::thread producer([&pool, sender = std::move(sender)]() mutable {
        auto out = std::move(sender);
        for (std::uint32_t number = 0; number < frames; number++) {
            auto buffer = pool->alloc();
            while (!buffer) { // all are under way
                std::this_thread::yield();
                buffer = pool->alloc();
            }
            std::ranges::fill(buffer->bytes(), static_cast<std::byte>(number));
            if (out.send({std::move(*buffer).pass(), number}) != ANNULUS_OK) return;
        }
    });

    auto in = std::move(receiver);
    std::uint32_t next = 0;
    while (auto frame = in.recv()) {
        auto buffer = pool->redeem(frame->buffer); // ours from now on, and back in the pool with its owner
        if (!buffer || frame->number != next++) return 1;
        if (buffer->bytes().front() != static_cast<std::byte>(frame->number)) return 1;
        if (buffer->bytes().back() != static_cast<std::byte>(frame->number)) return 1;
    }
    producer.join();
    return next == frames && pool->available() == 4 ? 0 : 1;
}
