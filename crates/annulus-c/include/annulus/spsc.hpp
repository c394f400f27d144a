// One producer, one consumer: sends and receives by annulus_inline.h, without a call.
#ifndef ANNULUS_SPSC_HPP
#define ANNULUS_SPSC_HPP

#include <annulus/queue.hpp>
#include <annulus_inline.h>

namespace annulus {

namespace spsc {

// The sending end. Move it into the function that sends.
template <class T>
class sender : detail::message_type<T>,
               public detail::viewed<annulus_producer, annulus_spsc_producer, annulus_spsc_producer_open, annulus_spsc_producer_end> {
    using viewed = typename sender::viewed;

  public:
    using viewed::viewed, viewed::size;
    ANNULUS_MOVES_(sender);

    [[nodiscard]] ANNULUS_ALWAYS_ status try_send(const T &message) noexcept {
        return annulus_spsc_try_send(&this->view_, std::addressof(message), sizeof(T));
    }
    [[nodiscard]] ANNULUS_ALWAYS_ status send(const T &message) noexcept {
        return annulus_spsc_send(&this->view_, std::addressof(message), sizeof(T));
    }
    [[nodiscard]] ANNULUS_ALWAYS_ status send_for(const T &message, timeout time) noexcept {
        const status sent = annulus_spsc_send_timeout(&this->view_, std::addressof(message), sizeof(T), detail::ns(time));
        return sent == ANNULUS_FULL ? ANNULUS_TIMEOUT : sent;
    }
    // How many of them were sent, from the first on.
    ANNULUS_ALWAYS_ result<std::size_t> try_send_batch(std::span<const T> messages) noexcept {
        std::size_t sent = 0;
        const status code = annulus_spsc_try_send_batch(&this->view_, messages.data(), messages.size(), sizeof(T), &sent);
        if (code != ANNULUS_OK) return code;
        return sent;
    }
    // Up to `most` slots, to write messages to; `commit` sends the first ones. `reserve_for` waits so long for the first one.
    ANNULUS_ALWAYS_ result<std::span<T>> try_reserve(std::size_t most) noexcept { return reserved(most, 0); }
    ANNULUS_ALWAYS_ result<std::span<T>> reserve(std::size_t most) noexcept { return reserved(most, ANNULUS_FOREVER); }
    ANNULUS_ALWAYS_ result<std::span<T>> reserve_for(std::size_t most, timeout time) noexcept {
        auto slots = reserved(most, detail::ns(time));
        return slots.error() == ANNULUS_FULL ? result<std::span<T>>(ANNULUS_TIMEOUT) : slots;
    }
    [[nodiscard]] ANNULUS_ALWAYS_ status commit(std::size_t count) noexcept { return annulus_spsc_commit(&this->view_, count); }

  private:
    ANNULUS_ALWAYS_ result<std::span<T>> reserved(std::size_t most, std::uint64_t ns) noexcept {
        void *slots = nullptr;
        std::size_t count = 0;
        const status code = annulus_spsc_reserve(&this->view_, most, ns, &slots, &count);
        if (code != ANNULUS_OK) return code;
        return detail::typed<T>(slots, count);
    }
};

// The receiving end. Move it into the function that receives.
template <class T>
class receiver : detail::message_type<T>,
                 public detail::viewed_receiving<annulus_consumer, annulus_spsc_consumer, annulus_spsc_consumer_open, annulus_spsc_consumer_end> {
    using viewed_receiving = typename receiver::viewed_receiving;

  public:
    using viewed_receiving::viewed_receiving, viewed_receiving::size;
    ANNULUS_MOVES_(receiver);

    [[nodiscard]] ANNULUS_ALWAYS_ result<T> try_recv() noexcept { return received_in(0); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv() noexcept { return received_in(ANNULUS_FOREVER); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) ANNULUS_ALWAYS_ {
            const status code = into_place(into, detail::ns(time));
            return code == ANNULUS_EMPTY ? ANNULUS_TIMEOUT : code;
        });
    }
    // How many were received into `messages`, from the first on.
    ANNULUS_ALWAYS_ result<std::size_t> try_recv_batch(std::span<T> messages) noexcept {
        std::size_t received = 0;
        const status code = this->by_view(
            [&]() ANNULUS_ALWAYS_ { return annulus_spsc_try_recv_batch(&this->view_, messages.data(), messages.size(), sizeof(T), &received); });
        if (code != ANNULUS_OK) return code;
        return received;
    }
    // The next messages, where they lie; `advance` takes the first ones out of the queue. It waits so long for the first one: without
    // a time not at all.
    ANNULUS_ALWAYS_ result<std::span<const T>> readable(timeout time = {}) noexcept { return shown(detail::ns(time)); }
    ANNULUS_ALWAYS_ result<std::span<const T>> wait_readable() noexcept { return shown(ANNULUS_FOREVER); }
    [[nodiscard]] ANNULUS_ALWAYS_ status advance(std::size_t count) noexcept { return annulus_spsc_advance(&this->view_, count); }

  private:
    ANNULUS_ALWAYS_ result<T> received_in(std::uint64_t ns) noexcept {
        return result<T>::from([&](void *into) ANNULUS_ALWAYS_ { return into_place(into, ns); });
    }
    ANNULUS_ALWAYS_ status into_place(void *into, std::uint64_t ns) noexcept {
        return this->by_view([&]() ANNULUS_ALWAYS_ { return annulus_spsc_recv_timeout(&this->view_, into, sizeof(T), ns); });
    }
    ANNULUS_ALWAYS_ result<std::span<const T>> shown(std::uint64_t ns) noexcept {
        const void *messages = nullptr;
        std::size_t count = 0;
        const status code = this->by_view([&]() ANNULUS_ALWAYS_ { return annulus_spsc_readable(&this->view_, ns, &messages, &count); });
        if (code != ANNULUS_OK) return code;
        return detail::typed<T>(messages, count);
    }
};

// A queue that holds exactly `options.capacity` messages.
template <class T> [[nodiscard]] result<std::pair<sender<T>, receiver<T>>> channel(const options &options) noexcept {
    return detail::queue_of<sender<T>, receiver<T>>(ANNULUS_SPSC, options, sizeof(T));
}

} // namespace spsc

} // namespace annulus

#endif // ANNULUS_SPSC_HPP
