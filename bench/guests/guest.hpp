// What the guests in C++ have in common: the messages of the rows, the cores, and a stream from one to the other.
//
// Usage of a guest: PROGRAM WORK CAPACITY WARM_UP MESSAGES HERE THERE. The receivers run on core HERE or THERE as in the row; prints
// {"ns": nanoseconds a message}.
#ifndef GUEST_HPP
#define GUEST_HPP

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

using Clock = std::chrono::steady_clock;
using Message = std::uint64_t;

static void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
}

static void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    require(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0, "can't stay on a core");
}

static Message mix(Message sequence) { return sequence * 0x9E3779B97F4A7C15u + 0x55u; }

static inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

struct Plan {
    std::size_t capacity;
    Message warm_up, messages;
    int here, there;
};

static double ns_each(Clock::time_point begun, Message count) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begun).count() / double(count);
}

// From this core to the other, through `send(message)` and `receive(message)`, which say whether they could.
template <class Send, class Receive> static double stream(const Plan &plan, Send send, Receive receive) {
    const Message total = plan.warm_up + plan.messages;
    // Each side has its own, as a thread has it: borrowed from outside, its numbers would live in memory.
    std::thread receiver([&plan, total, moved = std::move(receive)]() mutable {
        auto receive = std::move(moved);
        pin(plan.there);
        for (Message i = 0; i < total; i++) {
            Message message;
            while (!receive(message)) relax();
            require(message == mix(i), "a message is not that of its sequence");
        }
    });
    Clock::time_point begun;
    for (Message i = 0; i < total; i++) {
        if (i == plan.warm_up) begun = Clock::now();
        while (!send(mix(i))) relax();
    }
    receiver.join();
    return ns_each(begun, plan.messages);
}

// Runs the work that the arguments name, and says how long a message took.
template <class Work> static int guest(int count, char **arguments, Work work) {
    require(count == 7, "six arguments are needed");
    Plan plan{std::strtoull(arguments[2], nullptr, 10), std::strtoull(arguments[3], nullptr, 10),
              std::strtoull(arguments[4], nullptr, 10), std::atoi(arguments[5]), std::atoi(arguments[6])};
    pin(plan.here);
    std::printf("{\"ns\": %.4f}\n", work(arguments[1], plan));
    return 0;
}

#endif
