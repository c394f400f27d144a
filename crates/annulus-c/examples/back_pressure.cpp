// A queue that is full: the sender is told at once, gives up in time, or waits.
#include <annulus.hpp>

#include <thread>

using namespace std::chrono_literals;

int main() {
    auto channel = annulus::ordered::channel<std::uint32_t>({.capacity = 2, .wait = {ANNULUS_WAIT_ADAPTIVE, 0, 0}});
    if (!channel) return channel.error();
    auto &[sender, receiver] = *channel;

    if (receiver.try_recv().error() != ANNULUS_EMPTY) return 1;
    if (receiver.recv_for(1us).error() != ANNULUS_TIMEOUT) return 1;
    if (sender.try_send(0) != ANNULUS_OK || sender.send_for(1, 0ns) != ANNULUS_OK) return 1;
    if (sender.try_send(2) != ANNULUS_FULL) return 1;
    if (sender.send_for(2, 1ms) != ANNULUS_TIMEOUT) return 1;

    std::uint32_t next = 0;
    std::thread consumer([&next, in = std::move(receiver)]() mutable {
        while (auto number = in.recv()) {
            if (*number != next++) return;
        }
    });
    for (std::uint32_t number = 2; number < 2000; number++) {
        if (sender.send(number) != ANNULUS_OK) return 1;
    }
    if (sender.close() != ANNULUS_OK) return 1;
    consumer.join();
    return next == 2000 ? 0 : 1;
}
