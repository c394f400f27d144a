// A receiver in a worker: epoll tells of messages and of the end.
#include <annulus.hpp>

#include <sys/epoll.h>
#include <thread>
#include <unistd.h>

int main() {
    auto channel = annulus::mpsc::channel<std::uint64_t>({.capacity = 16});
    if (!channel) return channel.error();
    auto &[sender, receiver] = *channel;

    auto fd = receiver.fd(); // the receiver's, which closes it
    if (!fd) return fd.error();
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event = {EPOLLIN, {nullptr}};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, *fd, &event) != 0) return 1;

    std::thread producer([out = std::move(sender)]() mutable {
        for (std::uint64_t number = 0; number < 2000; number++) {
            if (out.send(number) != ANNULUS_OK) return;
        }
        { auto ended = std::move(out); }
    });

    std::uint64_t next = 0;
    for (annulus::status status = ANNULUS_EMPTY; status != ANNULUS_CLOSED;) {
        // `arm` says whether something is there already; only if not, epoll will tell.
        auto ready = receiver.arm();
        if (!ready || (!*ready && epoll_wait(epoll, &event, 1, -1) != 1)) return 1;
        for (;;) {
            auto number = receiver.try_recv();
            status = number.error();
            if (!number) break;
            if (*number != next++) return 1;
        }
    }
    producer.join();
    close(epoll);
    return next == 2000 ? 0 : 1;
}
