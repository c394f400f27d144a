// A producer and a consumer: sends wait while the queue is full, receives while it is empty.
#include <annulus.hpp>

#include <thread>

struct order {
    std::uint64_t number;
    double price;
};

int main() {
    auto channel = annulus::spsc::channel<order>({.capacity = 1024});
    if (!channel) return channel.error();
    auto &[sender, receiver] = *channel;

    std::thread producer([sender = std::move(sender)]() mutable {
        auto out = std::move(sender); // a local variable: its numbers live in registers
        for (std::uint64_t number = 1; number <= 1000; number++) {
            if (out.send({number, 1.5}) != ANNULUS_OK) return; // nobody receives any more
        }
    }); // the sender ends with the thread, which closes the queue

    auto in = std::move(receiver);
    std::uint64_t sum = 0;
    while (auto order = in.recv()) sum += order->number;
    producer.join();
    return sum == 500500 ? 0 : 1;
}
