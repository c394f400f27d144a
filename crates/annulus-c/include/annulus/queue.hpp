// Queues by calls: of blocks of bytes, and typed. (`spsc`, which is inline, is in spsc.hpp.)
#ifndef ANNULUS_QUEUE_HPP
#define ANNULUS_QUEUE_HPP

#include <annulus/handle.hpp>

namespace annulus {

namespace detail {

template <> struct functions<annulus_producer> {
    static constexpr auto free = annulus_producer_free;
    static constexpr auto clone = annulus_producer_clone;
    static constexpr auto len = annulus_producer_len;
    static constexpr auto capacity = annulus_producer_capacity;
    static constexpr auto close = annulus_producer_close;
    static constexpr auto is_closed = annulus_producer_is_closed;
    static constexpr auto closer = annulus_producer_closer;
    static constexpr auto stats = annulus_producer_stats;
    static constexpr auto peer = annulus_producer_peer;
};

template <> struct functions<annulus_consumer> {
    static constexpr auto free = annulus_consumer_free;
    static constexpr auto clone = annulus_consumer_clone;
    static constexpr auto len = annulus_consumer_len;
    static constexpr auto capacity = annulus_consumer_capacity;
    static constexpr auto close = annulus_consumer_close;
    static constexpr auto is_closed = annulus_consumer_is_closed;
    static constexpr auto corrupt = annulus_consumer_corrupt;
    static constexpr auto closer = annulus_consumer_closer;
    static constexpr auto stats = annulus_consumer_stats;
    static constexpr auto peer = annulus_consumer_peer;
    static constexpr auto try_recv = annulus_consumer_try_recv;
    static constexpr auto recv = annulus_consumer_recv;
    static constexpr auto recv_timeout = annulus_consumer_recv_timeout;
    static constexpr auto fd = annulus_consumer_fd;
    static constexpr auto arm = annulus_consumer_arm;
};

} // namespace detail

// Messages that lie in a ring, each `stride` bytes behind the one before.
template <class Byte> struct blocks {
    Byte *first;
    std::size_t count, stride, size;

    [[nodiscard]] std::span<Byte> operator[](std::size_t index) const noexcept { return {first + index * stride, size}; }
};

// The sending end of a queue of blocks of bytes.
class producer : public detail::end<annulus_producer> {
  public:
    using end::end;
    ANNULUS_MOVES_(producer);

    [[nodiscard]] status try_send(std::span<const std::byte> message) noexcept {
        return annulus_producer_try_send(get(), message.data(), message.size());
    }
    [[nodiscard]] status send(std::span<const std::byte> message) noexcept {
        return annulus_producer_send(get(), message.data(), message.size());
    }
    [[nodiscard]] status send_for(std::span<const std::byte> message, timeout time) noexcept {
        return annulus_producer_send_timeout(get(), message.data(), message.size(), detail::ns(time));
    }
    // How many of the messages, each of `size` bytes, were sent.
    result<std::size_t> try_send_batch(std::span<const std::byte> messages, std::size_t size) noexcept {
        if (size == 0) return ANNULUS_WRONG_SIZE;
        return detail::asked<std::size_t>([&](std::size_t *sent) {
            return annulus_producer_try_send_batch(get(), messages.data(), messages.size() / size, size, sent);
        });
    }
    // Slots to write messages of `size` bytes to; `commit` sends them. (`size` is what the blocks say, and is not looked at.)
    result<blocks<std::byte>> try_reserve(std::size_t most, std::size_t size) noexcept {
        return reserved(size, [&](void **slots, std::size_t *count) { return annulus_producer_try_reserve(get(), most, slots, count); });
    }
    result<blocks<std::byte>> reserve(std::size_t most, std::size_t size) noexcept { return reserved_in(ANNULUS_FOREVER, most, size); }
    result<blocks<std::byte>> reserve_for(std::size_t most, std::size_t size, timeout time) noexcept {
        return reserved_in(detail::ns(time), most, size);
    }
    [[nodiscard]] status commit(std::size_t count) noexcept { return annulus_producer_commit(get(), count); }
    // Another producer of the same queue.
    [[nodiscard]] result<producer> clone() const noexcept { return another<producer>(); }

  private:
    result<blocks<std::byte>> reserved_in(std::uint64_t ns, std::size_t most, std::size_t size) noexcept {
        return reserved(size, [&](void **slots, std::size_t *count) { return annulus_producer_reserve(get(), most, ns, slots, count); });
    }
    template <class Reserve> result<blocks<std::byte>> reserved(std::size_t size, Reserve reserve) noexcept {
        void *slots = nullptr;
        std::size_t count = 0;
        const status code = reserve(&slots, &count);
        if (code != ANNULUS_OK) return code;
        return blocks<std::byte>{static_cast<std::byte *>(slots), count, annulus_producer_stride(get()), size};
    }
};

// The receiving end of a queue of blocks of bytes.
class consumer : public detail::receiving<annulus_consumer> {
  public:
    using receiving::receiving;
    ANNULUS_MOVES_(consumer);

    // How many messages, each of `size` bytes, were received into `messages`.
    result<std::size_t> try_recv_batch(std::span<std::byte> messages, std::size_t size) noexcept {
        if (size == 0) return ANNULUS_WRONG_SIZE;
        return detail::asked<std::size_t>([&](std::size_t *received) {
            return annulus_consumer_try_recv_batch(get(), messages.data(), messages.size() / size, size, received);
        });
    }
    // The next messages, of `size` bytes, where they lie. (`size` is what the blocks say, and is not looked at.)
    // Between processes the other process can write to them while they are read: unless you trust it not to, copy what you need, then
    // check the copy.
    result<blocks<const std::byte>> readable(std::size_t size, timeout time = {}) noexcept {
        const void *messages = nullptr;
        std::size_t count = 0;
        const status code = annulus_consumer_readable(get(), detail::ns(time), &messages, &count);
        if (code != ANNULUS_OK) return code;
        return blocks<const std::byte>{static_cast<const std::byte *>(messages), count, annulus_consumer_stride(get()), size};
    }
    // As `readable`, without a limit (of less than 292 years).
    result<blocks<const std::byte>> wait_readable(std::size_t size) noexcept { return readable(size, timeout::max()); }
    [[nodiscard]] status advance(std::size_t count) noexcept { return annulus_consumer_advance(get(), count); }
    // Another consumer of the same queue.
    [[nodiscard]] result<consumer> clone() const noexcept { return another<consumer>(); }
};

namespace detail {

template <class Producer, class Consumer>
[[nodiscard]] result<std::pair<Producer, Consumer>> queue_of(std::uint32_t kind, const options &options, std::size_t message_size) noexcept {
    const annulus_options of = options.of(message_size);
    return made_both<Producer, Consumer>(
        [&](annulus_producer **sends, annulus_consumer **receives) { return annulus_queue_new(kind, &of, sends, receives); });
}

// Blocks that a ring has shown, or reserved, as the messages that they are.
template <class T, class Byte> auto typed(const result<blocks<Byte>> &found) noexcept {
    using Void = std::conditional_t<std::is_const_v<Byte>, const void, void>;
    using Messages = result<decltype(typed<T>(std::declval<Void *>(), std::size_t()))>;
    return found ? Messages(typed<T>(static_cast<Void *>(found->first), found->count)) : Messages(found.error());
}

// The sending end of a typed queue of any kind.
template <class T> class sender : message_type<T>, public producer {
  public:
    using producer::producer;

    [[nodiscard]] status try_send(const T &message) noexcept {
        return annulus_producer_try_send(get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status send(const T &message) noexcept {
        return annulus_producer_send(get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status send_for(const T &message, timeout time) noexcept {
        return annulus_producer_send_timeout(get(), std::addressof(message), sizeof(T), ns(time));
    }
    // How many of them were sent, from the first on.
    result<std::size_t> try_send_batch(std::span<const T> messages) noexcept {
        return untyped().try_send_batch(std::as_bytes(messages), sizeof(T));
    }
    // Up to `most` slots, to write messages to; `commit` sends the first ones. Of queues with one consumer.
    result<std::span<T>> try_reserve(std::size_t most) noexcept { return typed<T>(untyped().try_reserve(most, sizeof(T))); }
    result<std::span<T>> reserve(std::size_t most) noexcept { return typed<T>(untyped().reserve(most, sizeof(T))); }
    result<std::span<T>> reserve_for(std::size_t most, timeout time) noexcept {
        return typed<T>(untyped().reserve_for(most, sizeof(T), time));
    }
    [[nodiscard]] result<sender> clone() const noexcept { return another<sender>(); }
    [[nodiscard]] producer &untyped() noexcept { return *this; }
};

// The receiving end of a typed queue of any kind.
template <class T> class receiver : public receiving_typed<T, consumer> {
  public:
    using receiving_typed<T, consumer>::receiving_typed;

    // How many were received into `messages`, from the first on.
    result<std::size_t> try_recv_batch(std::span<T> messages) noexcept {
        return this->untyped().try_recv_batch(std::as_writable_bytes(messages), sizeof(T));
    }
    // The next messages, where they lie, as of `consumer`; `advance` takes the first ones out of the queue. Of queues with one consumer.
    result<std::span<const T>> readable(timeout time = {}) noexcept { return typed<T>(this->untyped().readable(sizeof(T), time)); }
    result<std::span<const T>> wait_readable() noexcept { return typed<T>(this->untyped().wait_readable(sizeof(T))); }
    [[nodiscard]] result<receiver> clone() const noexcept { return this->template another<receiver>(); }
};

} // namespace detail

// A queue of blocks of bytes, of one of the kinds of annulus_queue_new.
[[nodiscard]] inline result<std::pair<producer, consumer>> queue(std::uint32_t kind, const options &options, std::size_t message_size) noexcept {
    return detail::queue_of<producer, consumer>(kind, options, message_size);
}

// Typed queues: as `spsc`, by calls, with `clone` for the end of which there are many.
#define ANNULUS_QUEUE_(name, kind)                                                                                     \
    namespace name {                                                                                                   \
    template <class T> using sender = detail::sender<T>;                                                               \
    template <class T> using receiver = detail::receiver<T>;                                                           \
    template <class T> [[nodiscard]] result<std::pair<sender<T>, receiver<T>>> channel(const options &options) noexcept { \
        return detail::queue_of<sender<T>, receiver<T>>(kind, options, sizeof(T));                                     \
    }                                                                                                                  \
    }
ANNULUS_QUEUE_(mpsc, ANNULUS_MPSC)
ANNULUS_QUEUE_(spmc, ANNULUS_SPMC)
ANNULUS_QUEUE_(mpmc, ANNULUS_MPMC)
ANNULUS_QUEUE_(ordered, ANNULUS_ORDERED)
#undef ANNULUS_QUEUE_

} // namespace annulus

#endif // ANNULUS_QUEUE_HPP
