// Records: byte strings of any length, in queues and in broadcast rings. (Between processes: `shm::bytes`, in shm.hpp.)
#ifndef ANNULUS_BYTES_HPP
#define ANNULUS_BYTES_HPP

#include <annulus/handle.hpp>

namespace annulus {

namespace detail {

template <> struct functions<annulus_bytes_producer> {
    static constexpr auto free = annulus_bytes_producer_free;
    static constexpr auto capacity = annulus_bytes_producer_capacity;
    static constexpr auto close = annulus_bytes_producer_close;
    static constexpr auto is_closed = annulus_bytes_producer_is_closed;
    static constexpr auto closer = annulus_bytes_producer_closer;
    static constexpr auto stats = annulus_bytes_producer_stats;
    static constexpr auto peer = annulus_bytes_producer_peer;
};

template <> struct functions<annulus_bytes_consumer> {
    static constexpr auto free = annulus_bytes_consumer_free;
    static constexpr auto capacity = annulus_bytes_consumer_capacity;
    static constexpr auto max_len = annulus_bytes_consumer_max_len;
    static constexpr auto close = annulus_bytes_consumer_close;
    static constexpr auto is_closed = annulus_bytes_consumer_is_closed;
    static constexpr auto closer = annulus_bytes_consumer_closer;
    static constexpr auto stats = annulus_bytes_consumer_stats;
    static constexpr auto peer = annulus_bytes_consumer_peer;
    static constexpr auto try_recv = annulus_bytes_consumer_try_recv;
    static constexpr auto recv = annulus_bytes_consumer_recv;
    static constexpr auto recv_timeout = annulus_bytes_consumer_recv_timeout;
    static constexpr auto fd = annulus_bytes_consumer_fd;
    static constexpr auto arm = annulus_bytes_consumer_arm;
};

template <> struct functions<annulus_bytes_publisher> {
    static constexpr auto free = annulus_bytes_publisher_free;
    static constexpr auto capacity = annulus_bytes_publisher_capacity;
    static constexpr auto close = annulus_bytes_publisher_close;
    static constexpr auto is_closed = annulus_bytes_publisher_is_closed;
    static constexpr auto closer = annulus_bytes_publisher_closer;
    static constexpr auto stats = annulus_bytes_publisher_stats;
};

template <> struct functions<annulus_bytes_subscribable> {
    static constexpr auto free = annulus_bytes_subscribable_free;
};

template <> struct functions<annulus_bytes_subscriber> {
    static constexpr auto free = annulus_bytes_subscriber_free;
    static constexpr auto len = annulus_bytes_subscriber_len;
    static constexpr auto max_len = annulus_bytes_subscriber_max_len;
    static constexpr auto is_closed = annulus_bytes_subscriber_is_closed;
    static constexpr auto stats = annulus_bytes_subscriber_stats;
    static constexpr auto try_recv = annulus_bytes_subscriber_try_recv;
    static constexpr auto recv = annulus_bytes_subscriber_recv;
    static constexpr auto recv_timeout = annulus_bytes_subscriber_recv_timeout;
    static constexpr auto fd = annulus_bytes_subscriber_fd;
    static constexpr auto arm = annulus_bytes_subscriber_arm;
};

// A receiving end of records. A record goes into a buffer of the caller, and the result is the part of the buffer that it fills. If the
// buffer is too small, the status is ANNULUS_TOO_SMALL, `needed` is how long the record is, and the next receive has it.
template <class Raw> class receiving_records : public end<Raw> {
    using of = functions<Raw>;

  public:
    using end<Raw>::end;
    ANNULUS_MOVES_(receiving_records);

    [[nodiscard]] result<std::span<std::byte>> try_recv(std::span<std::byte> buffer, std::size_t *needed = nullptr) noexcept {
        return received(buffer, needed, [&](std::size_t *length) {
            return of::try_recv(this->get(), buffer.data(), buffer.size(), length);
        });
    }
    [[nodiscard]] result<std::span<std::byte>> recv(std::span<std::byte> buffer, std::size_t *needed = nullptr) noexcept {
        return received(buffer, needed, [&](std::size_t *length) {
            return of::recv(this->get(), buffer.data(), buffer.size(), length);
        });
    }
    [[nodiscard]] result<std::span<std::byte>> recv_for(std::span<std::byte> buffer, timeout time, std::size_t *needed = nullptr) noexcept {
        return received(buffer, needed, [&](std::size_t *length) {
            return of::recv_timeout(this->get(), buffer.data(), buffer.size(), length, ns(time));
        });
    }
    // How long a record can be: a buffer of so many bytes takes each.
    [[nodiscard]] std::size_t max_len() const noexcept { return of::max_len(this->get()); }
    // A descriptor for poll and epoll; `arm` before each wait says whether something is there already.
    [[nodiscard]] result<int> fd() noexcept {
        return asked<int>([&](int *to) { return of::fd(this->get(), to); });
    }
    [[nodiscard]] result<bool> arm() noexcept {
        return asked<bool>([&](bool *to) { return of::arm(this->get(), to); });
    }

  private:
    template <class Receive> static result<std::span<std::byte>> received(std::span<std::byte> buffer, std::size_t *needed, Receive receive) noexcept {
        std::size_t length = 0;
        const status code = receive(&length);
        if (needed != nullptr) *needed = length;
        if (code != ANNULUS_OK) return code;
        return buffer.first(length);
    }
};

} // namespace detail

namespace bytes {

// Room in the ring for one record, to be written there. `commit` sends it; without that nothing is sent when this ends.
class reservation {
  public:
    reservation(annulus_bytes_producer *producer, std::span<std::byte> bytes) noexcept : producer_(producer), bytes_(bytes) {}
    reservation(reservation &&other) noexcept : producer_(std::exchange(other.producer_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
    reservation &operator=(reservation &&other) noexcept {
        if (this != &other) {
            cancel();
            producer_ = std::exchange(other.producer_, nullptr);
            bytes_ = std::exchange(other.bytes_, {});
        }
        return *this;
    }
    ~reservation() { cancel(); }

    // What was reserved, as it was left there before. Empty where this was sent, or moved from.
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
    // Sends all of it, or its first bytes. ANNULUS_INVALID where fewer are reserved: then it stays.
    [[nodiscard]] status commit() noexcept { return commit(bytes_.size()); }
    [[nodiscard]] status commit(std::size_t length) noexcept {
        if (length > bytes_.size()) return ANNULUS_INVALID;
        bytes_ = {};
        return annulus_bytes_producer_commit(std::exchange(producer_, nullptr), length);
    }

  private:
    void cancel() noexcept {
        if (producer_ != nullptr) annulus_bytes_producer_cancel(producer_);
    }

    annulus_bytes_producer *producer_;
    std::span<std::byte> bytes_;
};

// The sending end of a queue of records.
class producer : public detail::end<annulus_bytes_producer> {
  public:
    using end::end;
    ANNULUS_MOVES_(producer);

    [[nodiscard]] status try_send(std::span<const std::byte> record) noexcept {
        return annulus_bytes_producer_try_send(get(), record.data(), record.size());
    }
    [[nodiscard]] status send(std::span<const std::byte> record) noexcept {
        return annulus_bytes_producer_send(get(), record.data(), record.size());
    }
    [[nodiscard]] status send_for(std::span<const std::byte> record, timeout time) noexcept {
        return annulus_bytes_producer_send_timeout(get(), record.data(), record.size(), detail::ns(time));
    }
    // Room for a record of up to `length` bytes. There is one reservation at a time, and sends fail until it ends.
    [[nodiscard]] result<reservation> try_reserve(std::size_t length) noexcept {
        return reserved(length, [&](void **bytes) { return annulus_bytes_producer_try_reserve(get(), length, bytes); });
    }
    [[nodiscard]] result<reservation> reserve(std::size_t length) noexcept {
        return reserved(length, [&](void **bytes) { return annulus_bytes_producer_reserve(get(), length, ANNULUS_FOREVER, bytes); });
    }
    [[nodiscard]] result<reservation> reserve_for(std::size_t length, timeout time) noexcept {
        return reserved(length, [&](void **bytes) { return annulus_bytes_producer_reserve(get(), length, detail::ns(time), bytes); });
    }
    // Whether the consumer has received every record.
    [[nodiscard]] bool is_empty() const noexcept { return annulus_bytes_producer_is_empty(get()); }
    // How long a record can be: half the capacity.
    [[nodiscard]] std::size_t max_len() const noexcept { return annulus_bytes_producer_max_len(get()); }

  private:
    template <class Reserve> result<reservation> reserved(std::size_t length, Reserve reserve) noexcept {
        void *bytes = nullptr;
        const status code = reserve(&bytes);
        if (code != ANNULUS_OK) return code;
        return reservation(get(), {static_cast<std::byte *>(bytes), length});
    }
};

// The receiving end of a queue of records.
class consumer : public detail::receiving_records<annulus_bytes_consumer> {
  public:
    using receiving_records::receiving_records;
    ANNULUS_MOVES_(consumer);

    // The next record where it lies in the ring; `advance` takes it out of the queue. It waits so long for one: without a time not at all.
    // Between processes the other process can write to it while it is read: unless you trust it not to, copy what you need, then check the
    // copy.
    [[nodiscard]] result<std::span<const std::byte>> readable(timeout time = {}) noexcept { return shown(detail::ns(time)); }
    [[nodiscard]] result<std::span<const std::byte>> wait_readable() noexcept { return shown(ANNULUS_FOREVER); }
    [[nodiscard]] status advance() noexcept { return annulus_bytes_consumer_advance(get()); }
    // Whether no record is there.
    [[nodiscard]] bool is_empty() const noexcept { return annulus_bytes_consumer_is_empty(get()); }

  private:
    result<std::span<const std::byte>> shown(std::uint64_t ns) noexcept {
        const void *record = nullptr;
        std::size_t length = 0;
        const status code = annulus_bytes_consumer_readable(get(), ns, &record, &length);
        if (code != ANNULUS_OK) return code;
        return std::span(static_cast<const std::byte *>(record), length);
    }
};

// The sending end of a broadcast ring of records. On a lossy one it waits for nobody, on a lossless one for the slowest subscriber.
class publisher : public detail::end<annulus_bytes_publisher> {
  public:
    using end::end;
    ANNULUS_MOVES_(publisher);

    [[nodiscard]] status publish(std::span<const std::byte> record) noexcept {
        return annulus_bytes_publisher_publish(get(), record.data(), record.size());
    }
    [[nodiscard]] status try_publish(std::span<const std::byte> record) noexcept {
        return annulus_bytes_publisher_try_publish(get(), record.data(), record.size());
    }
    [[nodiscard]] status publish_for(std::span<const std::byte> record, timeout time) noexcept {
        return annulus_bytes_publisher_publish_timeout(get(), record.data(), record.size(), detail::ns(time));
    }
    // How long a record can be: half the capacity.
    [[nodiscard]] std::size_t max_len() const noexcept { return annulus_bytes_publisher_max_len(get()); }
};

// A receiving end of a broadcast ring of records.
class subscriber : public detail::receiving_records<annulus_bytes_subscriber> {
  public:
    using receiving_records::receiving_records;
    ANNULUS_MOVES_(subscriber);

    // How many records it has lost, exactly, and how many it has received.
    [[nodiscard]] std::uint64_t lagged() const noexcept { return annulus_bytes_subscriber_lagged(get()); }
    [[nodiscard]] std::uint64_t received() const noexcept { return annulus_bytes_subscriber_received(get()); }
};

// What makes the subscribers of a broadcast ring of records. Several threads may use it at once.
class subscribable : public detail::owned<annulus_bytes_subscribable> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(subscribable);

    [[nodiscard]] result<subscriber> subscribe() const noexcept { return made_from(false); }
    [[nodiscard]] result<subscriber> subscribe_from_oldest() const noexcept { return made_from(true); }

  private:
    result<subscriber> made_from(bool oldest) const noexcept {
        return detail::made<subscriber>([&](annulus_bytes_subscriber **to) { return annulus_bytes_subscribable_subscribe(get(), oldest, to); });
    }
};

// A queue of records of up to half the capacity, which is in bytes.
[[nodiscard]] inline result<std::pair<producer, consumer>> queue(const options &options) noexcept {
    const annulus_options of = options.of(1);
    return detail::made_both<producer, consumer>([&](annulus_bytes_producer **sends, annulus_bytes_consumer **receives) {
        return annulus_bytes_queue_new(&of, sends, receives);
    });
}

// A broadcast ring of such records: ANNULUS_LOSSY, where a subscriber that falls behind loses the oldest ones, or ANNULUS_LOSSLESS.
[[nodiscard]] inline result<std::pair<publisher, subscribable>> broadcast(std::uint32_t kind, const options &options) noexcept {
    const annulus_options of = options.of(1);
    return detail::made_both<publisher, subscribable>([&](annulus_bytes_publisher **publishes, annulus_bytes_subscribable **subscribes) {
        return annulus_bytes_broadcast_new(kind, &of, publishes, subscribes);
    });
}
// A lossy one.
[[nodiscard]] inline result<std::pair<publisher, subscribable>> broadcast(const options &options) noexcept {
    return broadcast(ANNULUS_LOSSY, options);
}

} // namespace bytes

} // namespace annulus

#endif // ANNULUS_BYTES_HPP
