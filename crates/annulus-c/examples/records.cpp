// Records of any length: lines of text, written in the ring and read there, and broadcast to subscribers.
#include <annulus.hpp>

#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

static bool queue() {
    auto made = annulus::bytes::queue({.capacity = 4096}); // bytes; a record may have half of them
    if (!made) return false;
    auto &[producer, consumer] = *made;
    std::thread thread([moved = std::move(producer)]() mutable {
        auto out = std::move(moved);
        for (int number = 0; number < 1000; number++) {
            auto room = out.reserve(64); // for the longest line; without a commit, nothing is sent
            if (!room) return;
            const int length = std::snprintf(reinterpret_cast<char *>(room->bytes().data()), 64, "line %d", number);
            if (room->commit(static_cast<std::size_t>(length)) != ANNULUS_OK) return;
        }
    });
    std::size_t length = 0;
    while (auto line = consumer.wait_readable()) { // std::span<const std::byte>
        length += line->size();
        if (consumer.advance() != ANNULUS_OK) return false; // its room goes back
    }
    thread.join();
    return length == 10 * 6 + 90 * 7 + 900 * 8;
}

static bool broadcast() {
    auto made = annulus::bytes::broadcast({.capacity = 4096});
    if (!made) return false;
    auto &[publisher, subscribable] = *made;
    auto subscriber = subscribable.subscribe();
    if (!subscriber) return false;
    for (const std::string_view text : {"short", "", "a line that is longer than the others"}) {
        if (publisher.publish(std::as_bytes(std::span(text))) != ANNULUS_OK) return false; // waits for nobody
    }
    if (publisher.close() != ANNULUS_OK) return false;

    std::vector<std::byte> buffer(8); // or max_len() bytes, which take every record
    std::size_t needed = 0, received = 0;
    for (;;) {
        auto record = subscriber->recv(buffer, &needed);
        if (record) received += record->size();
        else if (record.error() == ANNULUS_TOO_SMALL) buffer.resize(needed); // it is the next one still
        else break;
    }
    return received == 5 + 37 && subscriber->received() == 3 && subscriber->lagged() == 0;
}

int main() { return queue() && broadcast() ? 0 : 1; }
