// Moodycamel's queues at the same work as the rows of `../src/rows`: the same messages, each of them checked, the same warm-up, the same cores.

#include "guest.hpp"

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <readerwriterqueue/readerwriterqueue.h>

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
                // It has no close: a consumer that finds nothing looks whether anybody still sends.
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

static double work(const char *work, const Plan &plan) {
    if (!std::strcmp(work, "one-tried")) return one_tried(plan);
    if (!std::strcmp(work, "one-waiting")) return one_waiting(plan);
    if (!std::strncmp(work, "many-", 5)) return many(plan, unsigned(std::atoi(work + 5)));
    if (!std::strncmp(work, "exchange-", 9)) return exchange(plan, unsigned(std::atoi(work + 9)));
    require(false, "no such work");
    return 0;
}

int main(int count, char **arguments) { return guest(count, arguments, work); }
