// Moodycamel's queues at the same work as the rows of `../src/rows`: the same messages, each of them checked, the same warm-up, the same cores.
//
// Usage: moodycamel WORK CAPACITY WARM_UP MESSAGES HERE THERE. The receivers run on core HERE or THERE as in the row; prints {"ns": nanoseconds a message}.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <thread>
#include <vector>

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <readerwriterqueue/readerwriterqueue.h>

using Clock = std::chrono::steady_clock;
using Message = std::uint64_t;

static void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "moodycamel: %s\n", what);
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
    std::thread receiver([&] {
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

static double one_tried(const Plan &plan) {
    moodycamel::ReaderWriterQueue<Message> queue(plan.capacity);
    return stream(
        plan, [&](Message message) { return queue.try_enqueue(message); },
        [&](Message &message) { return queue.try_dequeue(message); });
}

static double one_waiting(const Plan &plan) {
    moodycamel::BlockingReaderWriterCircularBuffer<Message> queue(plan.capacity);
    return stream(
        plan, [&](Message message) { queue.wait_enqueue(message); return true; },
        [&](Message &message) { queue.wait_dequeue(message); return true; });
}

struct Begin {
    std::atomic<unsigned> arrived{0};
    // All `threads` meet here, for the time-th time. On a shared core they have to let each other run.
    void meet(unsigned threads, unsigned time) {
        arrived.fetch_add(1);
        while (arrived.load() < threads * time) std::this_thread::yield();
    }
};

// Producers on the other core, the consumer on this one. The queue is not bounded: `enqueue` takes memory where it has to.
static double many(const Plan &plan, unsigned producers) {
    moodycamel::BlockingConcurrentQueue<Message> queue(plan.capacity);
    Begin begin;
    const Message ends[2] = {plan.warm_up / producers, (plan.warm_up + plan.messages) / producers};
    std::vector<std::thread> threads;
    for (unsigned who = 0; who < producers; who++)
        threads.emplace_back([&, who] {
            pin(plan.there);
            moodycamel::ProducerToken token(queue);
            Message i = 0;
            for (unsigned phase = 0; phase < 2; phase++) {
                begin.meet(producers + 1, phase + 1);
                for (; i < ends[phase]; i++) require(queue.enqueue(token, i * producers + who), "no memory");
            }
        });
    moodycamel::ConsumerToken token(queue);
    std::vector<Message> next(producers, 0);
    Clock::time_point begun;
    Message received = 0;
    for (unsigned phase = 0; phase < 2; phase++) {
        begin.meet(producers + 1, phase + 1);
        begun = Clock::now();
        for (; received < ends[phase] * producers; received++) {
            Message message;
            queue.wait_dequeue(token, message);
            require(message / producers == next[message % producers]++, "the messages of a producer are not in order");
        }
    }
    double ns = ns_each(begun, (ends[1] - ends[0]) * producers);
    for (auto &thread : threads) thread.join();
    return ns;
}

// As many consumers as producers, those on this core, these on the other.
static double exchange(const Plan &plan, unsigned each) {
    moodycamel::BlockingConcurrentQueue<Message> queue(plan.capacity);
    Begin begin;
    const Message messages = (plan.warm_up + plan.messages) / each, total = messages * each;
    std::atomic<unsigned> left{each};
    std::atomic<Message> count{0}, sum{0};
    std::vector<std::thread> threads;
    for (unsigned who = 0; who < each; who++)
        threads.emplace_back([&, who] {
            pin(plan.there);
            moodycamel::ProducerToken token(queue);
            begin.meet(2 * each + 1, 1);
            for (Message i = 0; i < messages; i++) require(queue.enqueue(token, i * each + who), "no memory");
            left.fetch_sub(1);
        });
    for (unsigned who = 0; who < each; who++)
        threads.emplace_back([&] {
            pin(plan.here);
            moodycamel::ConsumerToken token(queue);
            std::vector<Message> next(each, 0);
            Message own_count = 0, own_sum = 0, message;
            begin.meet(2 * each + 1, 1);
            for (;;) {
                bool last = left.load() == 0;
                // It has no close: who finds nothing looks whether anybody still sends.
                if (!queue.wait_dequeue_timed(token, message, 50)) {
                    if (last) break;
                    continue;
                }
                require(message / each >= next[message % each], "the messages of a producer are not in order");
                next[message % each] = message / each + 1;
                own_count++;
                own_sum += message;
            }
            count += own_count;
            sum += own_sum;
        });
    begin.meet(2 * each + 1, 1);
    auto begun = Clock::now();
    for (auto &thread : threads) thread.join();
    double ns = ns_each(begun, total);
    Message expected = 0;
    for (Message i = 0; i < total; i++) expected += i;
    require(count == total && sum == expected, "messages are missing");
    return ns;
}

int main(int count, char **arguments) {
    require(count == 7, "six arguments are needed");
    const char *work = arguments[1];
    Plan plan{std::strtoull(arguments[2], nullptr, 10), std::strtoull(arguments[3], nullptr, 10),
              std::strtoull(arguments[4], nullptr, 10), std::atoi(arguments[5]), std::atoi(arguments[6])};
    pin(plan.here);
    double ns = 0;
    if (!std::strcmp(work, "one-tried")) ns = one_tried(plan);
    else if (!std::strcmp(work, "one-waiting")) ns = one_waiting(plan);
    else if (!std::strncmp(work, "many-", 5)) ns = many(plan, unsigned(std::atoi(work + 5)));
    else if (!std::strncmp(work, "exchange-", 9)) ns = exchange(plan, unsigned(std::atoi(work + 9)));
    else require(false, "no such work");
    std::printf("{\"ns\": %.4f}\n", ns);
}
