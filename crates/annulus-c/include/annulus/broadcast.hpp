// Broadcast rings by calls: of blocks of bytes, and typed. (`lossy`, which is inline, is in lossy.hpp.)
#ifndef ANNULUS_BROADCAST_HPP
#define ANNULUS_BROADCAST_HPP

#include <annulus/handle.hpp>

namespace annulus {

namespace detail {

template <> struct functions<annulus_publisher> {
    static constexpr auto free = annulus_publisher_free;
    static constexpr auto clone = annulus_publisher_clone;
    static constexpr auto capacity = annulus_publisher_capacity;
    static constexpr auto close = annulus_publisher_close;
    static constexpr auto is_closed = annulus_publisher_is_closed;
    static constexpr auto closer = annulus_publisher_closer;
    static constexpr auto stats = annulus_publisher_stats;
};

template <> struct functions<annulus_subscriber> {
    static constexpr auto free = annulus_subscriber_free;
    static constexpr auto len = annulus_subscriber_len;
    static constexpr auto is_closed = annulus_subscriber_is_closed;
    static constexpr auto corrupt = annulus_subscriber_corrupt;
    static constexpr auto stats = annulus_subscriber_stats;
    static constexpr auto peer = annulus_subscriber_peer;
    static constexpr auto try_recv = annulus_subscriber_try_recv;
    static constexpr auto recv = annulus_subscriber_recv;
    static constexpr auto recv_timeout = annulus_subscriber_recv_timeout;
    static constexpr auto fd = annulus_subscriber_fd;
    static constexpr auto arm = annulus_subscriber_arm;
};

template <> struct functions<annulus_subscribable> {
    static constexpr auto free = annulus_subscribable_free;
};

} // namespace detail

// The sending end of a broadcast ring of blocks of bytes.
class publisher : public detail::end<annulus_publisher> {
  public:
    using end::end;
    ANNULUS_MOVES_(publisher);

    [[nodiscard]] status publish(std::span<const std::byte> message) noexcept {
        return annulus_publisher_publish(get(), message.data(), message.size());
    }
    [[nodiscard]] status try_publish(std::span<const std::byte> message) noexcept {
        return annulus_publisher_try_publish(get(), message.data(), message.size());
    }
    [[nodiscard]] status publish_for(std::span<const std::byte> message, timeout time) noexcept {
        return annulus_publisher_publish_timeout(get(), message.data(), message.size(), detail::ns(time));
    }
    // Another publisher of the same ring.
    [[nodiscard]] result<publisher> clone() const noexcept { return another<publisher>(); }
};

// A receiving end of a broadcast ring of blocks of bytes.
class subscriber : public detail::receiving<annulus_subscriber> {
  public:
    using receiving::receiving;
    ANNULUS_MOVES_(subscriber);

    // How many messages it has lost, exactly, and how many it has received.
    [[nodiscard]] std::uint64_t lagged() const noexcept { return annulus_subscriber_lagged(get()); }
    [[nodiscard]] std::uint64_t received() const noexcept { return annulus_subscriber_received(get()); }
    // History: begins with the last `count` messages, or as many as there are, and says how many these are. For one that has just joined with the
    // oldest message.
    [[nodiscard]] result<std::size_t> begin_with_last(std::size_t count) noexcept {
        std::size_t there = 0;
        const status code = annulus_subscriber_begin_with_last(get(), count, &there);
        if (code != ANNULUS_OK) return code;
        return there;
    }
    // The number of the next message.
    [[nodiscard]] std::uint64_t cursor() const noexcept { return annulus_subscriber_cursor(get()); }
    // Between processes: after how long a silence the publisher is overdue, and for how long it has been silent, if it is; otherwise 0. A
    // program that waits by the deadline (`recv_for`), and asks when that was in vain, is told at once.
    [[nodiscard]] timeout deadline() const noexcept { return detail::time_of(annulus_subscriber_deadline(get())); }
    [[nodiscard]] timeout overdue() noexcept { return detail::time_of(annulus_subscriber_overdue(get())); }
};

namespace detail {

// What makes the subscribers of a broadcast ring. Several threads may use it at once.
template <class Subscriber> class subscribable : public owned<annulus_subscribable> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(subscribable);

    [[nodiscard]] result<Subscriber> subscribe() const noexcept { return made_from(false); }
    [[nodiscard]] result<Subscriber> subscribe_from_oldest() const noexcept { return made_from(true); }

  private:
    result<Subscriber> made_from(bool oldest) const noexcept {
        return made<Subscriber>([&](annulus_subscriber **to) { return annulus_subscribable_subscribe(get(), oldest, to); });
    }
};

template <class Publisher, class Subscriber>
[[nodiscard]] result<std::pair<Publisher, subscribable<Subscriber>>> broadcast_of(std::uint32_t kind, const options &options, std::size_t message_size) noexcept {
    const annulus_options of = options.of(message_size);
    return made_both<Publisher, subscribable<Subscriber>>([&](annulus_publisher **publishes, annulus_subscribable **subscribes) {
        return annulus_broadcast_new(kind, &of, publishes, subscribes);
    });
}

// The same, of messages of a type.
template <class T, class Publisher, class Subscriber>
[[nodiscard]] result<std::pair<Publisher, subscribable<Subscriber>>> broadcast_channel(std::uint32_t kind, const options &options) noexcept {
    static_assert(sizeof(T) <= ANNULUS_MESSAGE_MAX, "a message of a broadcast ring has at most ANNULUS_MESSAGE_MAX bytes");
    return broadcast_of<Publisher, Subscriber>(kind, options, sizeof(T));
}

// The sending end of a typed broadcast ring of any kind.
template <class T> class typed_publisher : message_type<T>, public publisher {
  public:
    using publisher::publisher;

    [[nodiscard]] status publish(const T &message) noexcept {
        return annulus_publisher_publish(get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status try_publish(const T &message) noexcept {
        return annulus_publisher_try_publish(get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status publish_for(const T &message, timeout time) noexcept {
        return annulus_publisher_publish_timeout(get(), std::addressof(message), sizeof(T), ns(time));
    }
    [[nodiscard]] result<typed_publisher> clone() const noexcept { return another<typed_publisher>(); }
    [[nodiscard]] publisher &untyped() noexcept { return *this; }
};

// A receiving end of a typed broadcast ring of any kind.
template <class T> using typed_subscriber = receiving_typed<T, subscriber>;

} // namespace detail

using subscribable = detail::subscribable<subscriber>;

// A broadcast ring of blocks of bytes, of one of the kinds of annulus_broadcast_new.
[[nodiscard]] inline result<std::pair<publisher, subscribable>> broadcast(std::uint32_t kind, const options &options, std::size_t message_size) noexcept {
    return detail::broadcast_of<publisher, subscriber>(kind, options, message_size);
}

// Typed broadcast rings: as `lossy`, by calls.
#define ANNULUS_BROADCAST_(name, kind)                                                                                 \
    namespace name {                                                                                                   \
    template <class T> using publisher = detail::typed_publisher<T>;                                                   \
    template <class T> using subscriber = detail::typed_subscriber<T>;                                                 \
    template <class T> using subscribable = detail::subscribable<subscriber<T>>;                                       \
    template <class T> [[nodiscard]] result<std::pair<publisher<T>, subscribable<T>>> channel(const options &options) noexcept { \
        return detail::broadcast_channel<T, publisher<T>, subscriber<T>>(kind, options);                               \
    }                                                                                                                  \
    }
ANNULUS_BROADCAST_(lossless, ANNULUS_LOSSLESS)
ANNULUS_BROADCAST_(mp_lossy, ANNULUS_MP_LOSSY)
ANNULUS_BROADCAST_(mp_lossless, ANNULUS_MP_LOSSLESS)
#undef ANNULUS_BROADCAST_

} // namespace annulus

#endif // ANNULUS_BROADCAST_HPP
