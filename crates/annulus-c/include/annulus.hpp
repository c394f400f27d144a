// annulus for C++20: handles that free themselves, typed channels, results without exceptions.
//
// Works with -fno-exceptions -fno-rtti: nothing here throws, or asks for a type at run time. A handle is move-only, and one
// thread at a time uses it, as annulus.h says of the handle that it has; `get` returns that one.
//
//     auto channel = annulus::spsc::channel<order>({.capacity = 1024});
//     if (!channel) return channel.error();
//     auto &[sender, receiver] = *channel;
//     sender.send({1, 1.5});
//     while (auto order = receiver.recv()) use(*order);      // until the channel is closed
//
// `spsc`, and `lossy` (broadcast), send and receive by annulus_inline.h, without a call. Keep their handles in local
// variables of the function that has the loop: move them there.
#ifndef ANNULUS_HPP
#define ANNULUS_HPP

#include <annulus.h>
#include <annulus_inline.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

// What takes the address of a handle is inlined, so that a handle that is a local variable can live in registers.
#define ANNULUS_ALWAYS_ __attribute__((always_inline))
#define ANNULUS_MOVES_(name)                                                                                           \
    ANNULUS_ALWAYS_ name(name &&) noexcept = default;                                                                  \
    ANNULUS_ALWAYS_ name &operator=(name &&) noexcept = default;                                                       \
    ANNULUS_ALWAYS_ ~name() = default

namespace annulus {

// What a function came to: ANNULUS_OK, or why not.
using status = annulus_status;

// Which messages there are: those that are their bytes.
template <class T>
inline constexpr bool is_message = std::is_trivially_copyable_v<T> && !std::is_const_v<T> && !std::is_reference_v<T>;

// What a status means, in English.
[[nodiscard]] inline const char *message_of(status of) noexcept { return annulus_strerror(of); }

// A value, or the status that says why there is none. As std::expected<T, status> of C++23, which ends the program where
// that one would throw.
template <class T> class [[nodiscard]] result {
  public:
    result(status error) noexcept : status_(error) {
        if (error == ANNULUS_OK) std::abort();
    }
    result(T &&value) noexcept : status_(ANNULUS_OK) { ::new (static_cast<void *>(storage_)) T(std::move(value)); }
    result(const T &value) noexcept
        requires std::is_copy_constructible_v<T>
        : status_(ANNULUS_OK) { ::new (static_cast<void *>(storage_)) T(value); }
    result(result &&other) noexcept : status_(other.status_) {
        if (status_ == ANNULUS_OK) ::new (static_cast<void *>(storage_)) T(std::move(*other));
    }
    result &operator=(result &&other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~result() {
        if (status_ == ANNULUS_OK) std::destroy_at(pointer());
    }

    [[nodiscard]] bool has_value() const noexcept { return status_ == ANNULUS_OK; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    // ANNULUS_OK where there is a value.
    [[nodiscard]] status error() const noexcept { return status_; }

    // The value. Ends the program where there is none.
    [[nodiscard]] T &operator*() & noexcept { return *checked(); }
    [[nodiscard]] const T &operator*() const & noexcept { return *const_cast<result *>(this)->checked(); }
    [[nodiscard]] T &&operator*() && noexcept { return std::move(*checked()); }
    [[nodiscard]] T *operator->() noexcept { return checked(); }
    [[nodiscard]] const T *operator->() const noexcept { return const_cast<result *>(this)->checked(); }
    [[nodiscard]] T &value() & noexcept { return *checked(); }
    [[nodiscard]] T &&value() && noexcept { return std::move(*checked()); }
    [[nodiscard]] T value_or(T otherwise) && noexcept {
        return has_value() ? std::move(*pointer()) : std::move(otherwise);
    }

  private:
    T *pointer() noexcept { return std::launder(reinterpret_cast<T *>(storage_)); }
    T *checked() noexcept {
        if (status_ != ANNULUS_OK) [[unlikely]] std::abort();
        return pointer();
    }

    alignas(T) std::byte storage_[sizeof(T)];
    status status_;
};

// The same for a message, which is its bytes: whoever receives has it written where it lies in the end.
template <class T>
    requires is_message<T>
class [[nodiscard]] result<T> {
  public:
    result(status error) noexcept : status_(error) {
        if (error == ANNULUS_OK) std::abort();
    }
    result(const T &value) noexcept : status_(ANNULUS_OK) { std::memcpy(storage_, std::addressof(value), sizeof(T)); }
    // What `receive(void *)` writes, if it returns ANNULUS_OK.
    template <class Receive> [[nodiscard]] ANNULUS_ALWAYS_ static result from(Receive receive) noexcept {
        result into;
        into.status_ = receive(static_cast<void *>(into.storage_));
        return into;
    }

    [[nodiscard]] bool has_value() const noexcept { return status_ == ANNULUS_OK; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] status error() const noexcept { return status_; }
    [[nodiscard]] T &operator*() noexcept { return *checked(); }
    [[nodiscard]] const T &operator*() const noexcept { return *const_cast<result *>(this)->checked(); }
    [[nodiscard]] T *operator->() noexcept { return checked(); }
    [[nodiscard]] const T *operator->() const noexcept { return const_cast<result *>(this)->checked(); }
    [[nodiscard]] T &value() noexcept { return *checked(); }
    [[nodiscard]] T value_or(T otherwise) const noexcept { return has_value() ? **this : otherwise; }

  private:
    result() noexcept {}
    T *checked() noexcept {
        if (status_ != ANNULUS_OK) [[unlikely]] std::abort();
        return std::launder(reinterpret_cast<T *>(storage_));
    }

    alignas(T) std::byte storage_[sizeof(T)];
    status status_;
};

// Whether it was done.
template <> class [[nodiscard]] result<void> {
  public:
    result() noexcept : status_(ANNULUS_OK) {}
    result(status status) noexcept : status_(status) {}
    [[nodiscard]] bool has_value() const noexcept { return status_ == ANNULUS_OK; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] status error() const noexcept { return status_; }

  private:
    status status_;
};

// How many messages a ring holds, how its threads wait, what is counted: annulus_options without the size of a message.
struct options {
    std::size_t capacity;
    annulus_wait wait = {ANNULUS_WAIT_DEFAULT, 0, 0};
    std::uint32_t flags = 0;

    [[nodiscard]] annulus_options of(std::size_t message_size) const noexcept {
        return {sizeof(annulus_options), capacity, message_size, wait, flags};
    }
};

// How long a call waits, at most.
using timeout = std::chrono::nanoseconds;

namespace detail {

inline std::uint64_t ns(timeout time) noexcept {
    // ANNULUS_FOREVER is longer than any of these.
    return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
}

// A handle of C, freed with its owner.
template <class Raw, annulus_status (*free)(Raw *)> class owned {
  public:
    ANNULUS_ALWAYS_ explicit owned(Raw *raw = nullptr) noexcept : raw_(raw) {}
    ANNULUS_ALWAYS_ owned(owned &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    ANNULUS_ALWAYS_ owned &operator=(owned &&other) noexcept {
        if (this != &other) {
            free(raw_);
            raw_ = std::exchange(other.raw_, nullptr);
        }
        return *this;
    }
    ANNULUS_ALWAYS_ ~owned() { free(raw_); }

    // The handle of C; null where this was moved from.
    [[nodiscard]] Raw *get() const noexcept { return raw_; }
    // The handle of C, which is the caller's to free from now on.
    [[nodiscard]] Raw *release() noexcept { return std::exchange(raw_, nullptr); }
    [[nodiscard]] explicit operator bool() const noexcept { return raw_ != nullptr; }

  private:
    Raw *raw_;
};

template <class Stats, class Raw> result<annulus_stats> stats(Stats ask, const Raw *handle) noexcept {
    annulus_stats stats{};
    stats.size = sizeof stats;
    const status status = ask(handle, &stats);
    return status == ANNULUS_OK ? result<annulus_stats>(stats) : result<annulus_stats>(status);
}

} // namespace detail

// Closes a ring, from any thread.
class closer : public detail::owned<annulus_closer, annulus_closer_free> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(closer);
    status close() const noexcept { return annulus_closer_close(get()); }
};

namespace detail {

template <class Make, class Raw> result<annulus::closer> closer_of(Make make, const Raw *handle) noexcept {
    annulus_closer *made = nullptr;
    const status status = make(handle, &made);
    if (status != ANNULUS_OK) return status;
    return annulus::closer(made);
}

} // namespace detail

// Messages that lie in a ring, each `stride` bytes behind the one before.
template <class Byte> struct blocks {
    Byte *first;
    std::size_t count, stride, size;

    [[nodiscard]] std::span<Byte> operator[](std::size_t index) const noexcept { return {first + index * stride, size}; }
};

// The sending end of a queue of blocks of bytes.
class producer : public detail::owned<annulus_producer, annulus_producer_free> {
  public:
    using owned::owned;
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
        std::size_t sent = 0;
        if (size == 0) return ANNULUS_WRONG_SIZE;
        const status status = annulus_producer_try_send_batch(get(), messages.data(), messages.size() / size, size, &sent);
        return status == ANNULUS_OK ? result<std::size_t>(sent) : result<std::size_t>(status);
    }
    // Slots to write messages of `size` bytes to; `commit` sends them. (`size` is what the blocks say, and is not looked at.)
    result<blocks<std::byte>> try_reserve(std::size_t most, std::size_t size) noexcept {
        void *slots = nullptr;
        std::size_t count = 0;
        const status status = annulus_producer_try_reserve(get(), most, &slots, &count);
        return reserved(status, slots, count, size);
    }
    result<blocks<std::byte>> reserve(std::size_t most, std::size_t size) noexcept {
        void *slots = nullptr;
        std::size_t count = 0;
        const status status = annulus_producer_reserve(get(), most, ANNULUS_FOREVER, &slots, &count);
        return reserved(status, slots, count, size);
    }
    [[nodiscard]] status commit(std::size_t count) noexcept { return annulus_producer_commit(get(), count); }
    // Another producer of the same queue.
    [[nodiscard]] result<producer> clone() const noexcept {
        annulus_producer *another = nullptr;
        const status status = annulus_producer_clone(get(), &another);
        if (status != ANNULUS_OK) return status;
        return producer(another);
    }
    [[nodiscard]] std::size_t size() const noexcept { return annulus_producer_len(get()); }
    [[nodiscard]] std::size_t capacity() const noexcept { return annulus_producer_capacity(get()); }
    status close() noexcept { return annulus_producer_close(get()); }
    [[nodiscard]] bool is_closed() const noexcept { return annulus_producer_is_closed(get()); }
    [[nodiscard]] result<annulus::closer> closer() const noexcept {
        return detail::closer_of(annulus_producer_closer, get());
    }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return detail::stats(annulus_producer_stats, get()); }

  private:
    result<blocks<std::byte>> reserved(status status, void *slots, std::size_t count, std::size_t size) noexcept {
        if (status != ANNULUS_OK) return status;
        return blocks<std::byte>{static_cast<std::byte *>(slots), count, annulus_producer_stride(get()), size};
    }
};

// The receiving end of a queue of blocks of bytes.
class consumer : public detail::owned<annulus_consumer, annulus_consumer_free> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(consumer);

    [[nodiscard]] status try_recv(std::span<std::byte> message) noexcept {
        return annulus_consumer_try_recv(get(), message.data(), message.size());
    }
    [[nodiscard]] status recv(std::span<std::byte> message) noexcept {
        return annulus_consumer_recv(get(), message.data(), message.size());
    }
    [[nodiscard]] status recv_for(std::span<std::byte> message, timeout time) noexcept {
        return annulus_consumer_recv_timeout(get(), message.data(), message.size(), detail::ns(time));
    }
    // How many messages, each of `size` bytes, were received into `messages`.
    result<std::size_t> try_recv_batch(std::span<std::byte> messages, std::size_t size) noexcept {
        std::size_t received = 0;
        if (size == 0) return ANNULUS_WRONG_SIZE;
        const status status =
            annulus_consumer_try_recv_batch(get(), messages.data(), messages.size() / size, size, &received);
        return status == ANNULUS_OK ? result<std::size_t>(received) : result<std::size_t>(status);
    }
    // The next messages, of `size` bytes, where they lie. (`size` is what the blocks say, and is not looked at.)
    result<blocks<const std::byte>> readable(std::size_t size, timeout time = {}) noexcept {
        const void *messages = nullptr;
        std::size_t count = 0;
        const status status = annulus_consumer_readable(get(), detail::ns(time), &messages, &count);
        if (status != ANNULUS_OK) return status;
        return blocks<const std::byte>{static_cast<const std::byte *>(messages), count, annulus_consumer_stride(get()), size};
    }
    [[nodiscard]] status advance(std::size_t count) noexcept { return annulus_consumer_advance(get(), count); }
    // Another consumer of the same queue.
    [[nodiscard]] result<consumer> clone() const noexcept {
        annulus_consumer *another = nullptr;
        const status status = annulus_consumer_clone(get(), &another);
        if (status != ANNULUS_OK) return status;
        return consumer(another);
    }
    // A descriptor for poll and epoll; `arm` before each wait says whether something is there already.
    [[nodiscard]] result<int> fd() noexcept {
        int fd = -1;
        const status status = annulus_consumer_fd(get(), &fd);
        return status == ANNULUS_OK ? result<int>(fd) : result<int>(status);
    }
    [[nodiscard]] result<bool> arm() noexcept {
        bool ready = false;
        const status status = annulus_consumer_arm(get(), &ready);
        return status == ANNULUS_OK ? result<bool>(ready) : result<bool>(status);
    }
    [[nodiscard]] std::size_t size() const noexcept { return annulus_consumer_len(get()); }
    [[nodiscard]] std::size_t capacity() const noexcept { return annulus_consumer_capacity(get()); }
    status close() noexcept { return annulus_consumer_close(get()); }
    [[nodiscard]] bool is_closed() const noexcept { return annulus_consumer_is_closed(get()); }
    [[nodiscard]] result<annulus::closer> closer() const noexcept {
        return detail::closer_of(annulus_consumer_closer, get());
    }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return detail::stats(annulus_consumer_stats, get()); }
};

// A queue of blocks of bytes, of one of the kinds of annulus_queue_new.
[[nodiscard]] inline result<std::pair<producer, consumer>> queue(std::uint32_t kind, const options &options, std::size_t message_size) noexcept {
    const annulus_options of = options.of(message_size);
    annulus_producer *sends = nullptr;
    annulus_consumer *receives = nullptr;
    const status status = annulus_queue_new(kind, &of, &sends, &receives);
    if (status != ANNULUS_OK) return status;
    return std::pair(producer(sends), consumer(receives));
}

// The sending end of a broadcast ring of blocks of bytes.
class publisher : public detail::owned<annulus_publisher, annulus_publisher_free> {
  public:
    using owned::owned;
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
    [[nodiscard]] result<publisher> clone() const noexcept {
        annulus_publisher *another = nullptr;
        const status status = annulus_publisher_clone(get(), &another);
        if (status != ANNULUS_OK) return status;
        return publisher(another);
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return annulus_publisher_capacity(get()); }
    status close() noexcept { return annulus_publisher_close(get()); }
    [[nodiscard]] bool is_closed() const noexcept { return annulus_publisher_is_closed(get()); }
    [[nodiscard]] result<annulus::closer> closer() const noexcept {
        return detail::closer_of(annulus_publisher_closer, get());
    }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return detail::stats(annulus_publisher_stats, get()); }
};

// A receiving end of a broadcast ring of blocks of bytes.
class subscriber : public detail::owned<annulus_subscriber, annulus_subscriber_free> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(subscriber);

    [[nodiscard]] status try_recv(std::span<std::byte> message) noexcept {
        return annulus_subscriber_try_recv(get(), message.data(), message.size());
    }
    [[nodiscard]] status recv(std::span<std::byte> message) noexcept {
        return annulus_subscriber_recv(get(), message.data(), message.size());
    }
    [[nodiscard]] status recv_for(std::span<std::byte> message, timeout time) noexcept {
        return annulus_subscriber_recv_timeout(get(), message.data(), message.size(), detail::ns(time));
    }
    [[nodiscard]] std::uint64_t lagged() const noexcept { return annulus_subscriber_lagged(get()); }
    [[nodiscard]] std::uint64_t received() const noexcept { return annulus_subscriber_received(get()); }
    [[nodiscard]] std::size_t size() const noexcept { return annulus_subscriber_len(get()); }
    [[nodiscard]] bool is_closed() const noexcept { return annulus_subscriber_is_closed(get()); }
    [[nodiscard]] result<int> fd() noexcept {
        int fd = -1;
        const status status = annulus_subscriber_fd(get(), &fd);
        return status == ANNULUS_OK ? result<int>(fd) : result<int>(status);
    }
    [[nodiscard]] result<bool> arm() noexcept {
        bool ready = false;
        const status status = annulus_subscriber_arm(get(), &ready);
        return status == ANNULUS_OK ? result<bool>(ready) : result<bool>(status);
    }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return detail::stats(annulus_subscriber_stats, get()); }
};

// What makes the subscribers of a broadcast ring. Several threads may use it at once.
class subscribable : public detail::owned<annulus_subscribable, annulus_subscribable_free> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(subscribable);

    [[nodiscard]] result<subscriber> subscribe() const noexcept { return made(false); }
    [[nodiscard]] result<subscriber> subscribe_from_oldest() const noexcept { return made(true); }

  private:
    result<subscriber> made(bool from_oldest) const noexcept {
        annulus_subscriber *made = nullptr;
        const status status = annulus_subscribable_subscribe(get(), from_oldest, &made);
        if (status != ANNULUS_OK) return status;
        return subscriber(made);
    }
};

// A broadcast ring of blocks of bytes, of one of the kinds of annulus_broadcast_new.
[[nodiscard]] inline result<std::pair<publisher, subscribable>> broadcast(std::uint32_t kind, const options &options, std::size_t message_size) noexcept {
    const annulus_options of = options.of(message_size);
    annulus_publisher *publishes = nullptr;
    annulus_subscribable *subscribes = nullptr;
    const status status = annulus_broadcast_new(kind, &of, &publishes, &subscribes);
    if (status != ANNULUS_OK) return status;
    return std::pair(publisher(publishes), subscribable(subscribes));
}

// Buffers of one size. Several threads may use it at once; it outlives its buffers.
class pool : public detail::owned<annulus_pool, annulus_pool_free> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(pool);

    // A buffer, which goes back with its owner. `pass` gives it away under its number, which fits into a message.
    class buffer {
      public:
        buffer(buffer &&other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)), handle_(other.handle_), bytes_(other.bytes_) {}
        buffer &operator=(buffer &&other) noexcept {
            if (this != &other) {
                std::destroy_at(this);
                std::construct_at(this, std::move(other));
            }
            return *this;
        }
        ~buffer() {
            if (pool_ != nullptr) annulus_pool_release(pool_, handle_);
        }

        [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
        // The number under which `redeem` takes it over. The buffer is no longer this owner's.
        [[nodiscard]] std::uint32_t pass() && noexcept {
            pool_ = nullptr;
            return handle_;
        }

      private:
        friend class pool;
        buffer(annulus_pool *pool, std::uint32_t handle, void *bytes) noexcept
            : pool_(pool), handle_(handle), bytes_(static_cast<std::byte *>(bytes), annulus_pool_buffer_size(pool)) {}

        annulus_pool *pool_;
        std::uint32_t handle_;
        std::span<std::byte> bytes_;
    };

    [[nodiscard]] static result<pool> make(std::size_t buffer_size, std::size_t count) noexcept {
        annulus_pool *made = nullptr;
        const status status = annulus_pool_new(buffer_size, count, &made);
        if (status != ANNULUS_OK) return status;
        return pool(made);
    }
    [[nodiscard]] result<buffer> alloc() const noexcept {
        std::uint32_t handle = 0;
        void *bytes = nullptr;
        const status status = annulus_pool_alloc(get(), &handle, &bytes);
        if (status != ANNULUS_OK) return status;
        return buffer(get(), handle, bytes);
    }
    [[nodiscard]] result<buffer> redeem(std::uint32_t received) const noexcept {
        std::uint32_t handle = 0;
        void *bytes = nullptr;
        const status status = annulus_pool_redeem(get(), received, &handle, &bytes);
        if (status != ANNULUS_OK) return status;
        return buffer(get(), handle, bytes);
    }
    [[nodiscard]] std::size_t available() const noexcept { return annulus_pool_available(get()); }
};

namespace detail {

// Slots begin at a multiple of 128, and a message that is a multiple of 8 lies in the ring as in an array.
template <class T> inline constexpr bool lies_as_in_an_array = sizeof(T) % 8 == 0 && alignof(T) <= 128;

// What every typed handle asks of its messages.
template <class T> struct message_type {
    static_assert(is_message<T>, "a message goes through the ring as its bytes, so it has to be trivially copyable");
};

template <class T, class Byte> std::span<std::conditional_t<std::is_const_v<Byte>, const T, T>> typed(Byte *first, std::size_t count) noexcept {
    static_assert(lies_as_in_an_array<T>, "in place, the size of a message has to be a multiple of 8");
    using Item = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return {static_cast<Item *>(first), count};
}

// The sending end of a typed queue of any kind.
template <class T> class sender : message_type<T> {
  public:
    explicit sender(producer &&of) noexcept : producer_(std::move(of)) {}

    [[nodiscard]] status try_send(const T &message) noexcept {
        return annulus_producer_try_send(producer_.get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status send(const T &message) noexcept {
        return annulus_producer_send(producer_.get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status send_for(const T &message, timeout time) noexcept {
        return annulus_producer_send_timeout(producer_.get(), std::addressof(message), sizeof(T), ns(time));
    }
    // How many of them were sent, from the first on.
    result<std::size_t> try_send_batch(std::span<const T> messages) noexcept {
        return producer_.try_send_batch(std::as_bytes(messages), sizeof(T));
    }
    [[nodiscard]] result<sender> clone() const noexcept {
        auto another = producer_.clone();
        if (!another) return another.error();
        return sender(std::move(*another));
    }
    [[nodiscard]] std::size_t size() const noexcept { return producer_.size(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return producer_.capacity(); }
    status close() noexcept { return producer_.close(); }
    [[nodiscard]] bool is_closed() const noexcept { return producer_.is_closed(); }
    [[nodiscard]] result<annulus::closer> closer() const noexcept { return producer_.closer(); }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return producer_.stats(); }
    [[nodiscard]] producer &untyped() noexcept { return producer_; }

  private:
    producer producer_;
};

// The receiving end of a typed queue of any kind.
template <class T> class receiver : message_type<T> {
  public:
    explicit receiver(consumer &&of) noexcept : consumer_(std::move(of)) {}

    [[nodiscard]] result<T> try_recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_consumer_try_recv(consumer_.get(), into, sizeof(T)); });
    }
    [[nodiscard]] result<T> recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_consumer_recv(consumer_.get(), into, sizeof(T)); });
    }
    [[nodiscard]] result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) {
            return annulus_consumer_recv_timeout(consumer_.get(), into, sizeof(T), ns(time));
        });
    }
    // How many were received into `messages`, from the first on.
    result<std::size_t> try_recv_batch(std::span<T> messages) noexcept {
        return consumer_.try_recv_batch(std::as_writable_bytes(messages), sizeof(T));
    }
    [[nodiscard]] result<receiver> clone() const noexcept {
        auto another = consumer_.clone();
        if (!another) return another.error();
        return receiver(std::move(*another));
    }
    [[nodiscard]] result<int> fd() noexcept { return consumer_.fd(); }
    [[nodiscard]] result<bool> arm() noexcept { return consumer_.arm(); }
    [[nodiscard]] std::size_t size() const noexcept { return consumer_.size(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return consumer_.capacity(); }
    status close() noexcept { return consumer_.close(); }
    [[nodiscard]] bool is_closed() const noexcept { return consumer_.is_closed(); }
    [[nodiscard]] result<annulus::closer> closer() const noexcept { return consumer_.closer(); }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return consumer_.stats(); }
    [[nodiscard]] consumer &untyped() noexcept { return consumer_; }

  private:
    consumer consumer_;
};

template <class T, std::uint32_t kind> [[nodiscard]] result<std::pair<sender<T>, receiver<T>>> channel(const options &options) noexcept {
    auto made = queue(kind, options, sizeof(T));
    if (!made) return made.error();
    return std::pair(sender<T>(std::move(made->first)), receiver<T>(std::move(made->second)));
}

// A handle of C and its view, which ends first.
template <class Handle, class View, status (*open)(View *, decltype(std::declval<Handle &>().get())), status (*end)(View *)> class viewed {
  public:
    ANNULUS_ALWAYS_ viewed(viewed &&other) noexcept : handle_(std::move(other.handle_)), view_(other.view_) { other.end_view(); }
    ANNULUS_ALWAYS_ viewed &operator=(viewed &&other) noexcept {
        if (this != &other) {
            end(&view_);
            handle_ = std::move(other.handle_);
            view_ = other.view_;
            other.end_view();
        }
        return *this;
    }
    ANNULUS_ALWAYS_ ~viewed() { end(&view_); }

  protected:
    ANNULUS_ALWAYS_ explicit viewed(Handle &&handle) noexcept : handle_(std::move(handle)) { open(&view_, handle_.get()); }

    // The other one has the view from now on: this one is as one that was ended.
    ANNULUS_ALWAYS_ void end_view() noexcept { open(&view_, nullptr); }

    Handle handle_;
    View view_;
};

} // namespace detail

// One producer, one consumer. Inline.
namespace spsc {

template <class T> class sender;
template <class T> class receiver;
template <class T> [[nodiscard]] result<std::pair<sender<T>, receiver<T>>> channel(const options &options) noexcept;

// The sending end. Move it into the function that sends.
template <class T>
class sender : detail::message_type<T>,
               detail::viewed<producer, annulus_spsc_producer, annulus_spsc_producer_open, annulus_spsc_producer_end> {
    using viewed = typename sender::viewed;

  public:
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
    // Up to `most` slots, to write messages to; `commit` sends the first ones.
    ANNULUS_ALWAYS_ result<std::span<T>> try_reserve(std::size_t most) noexcept { return reserved(most, 0); }
    ANNULUS_ALWAYS_ result<std::span<T>> reserve(std::size_t most) noexcept { return reserved(most, ANNULUS_FOREVER); }
    [[nodiscard]] ANNULUS_ALWAYS_ status commit(std::size_t count) noexcept { return annulus_spsc_commit(&this->view_, count); }

    [[nodiscard]] ANNULUS_ALWAYS_ std::size_t size() const noexcept { return this->handle_.size(); }
    [[nodiscard]] ANNULUS_ALWAYS_ std::size_t capacity() const noexcept { return this->handle_.capacity(); }
    status close() noexcept { return this->handle_.close(); }
    [[nodiscard]] ANNULUS_ALWAYS_ bool is_closed() const noexcept { return this->handle_.is_closed(); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<annulus::closer> closer() const noexcept { return this->handle_.closer(); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<annulus_stats> stats() const noexcept { return this->handle_.stats(); }

  private:
    friend result<std::pair<sender<T>, receiver<T>>> channel<T>(const options &) noexcept;
    ANNULUS_ALWAYS_ explicit sender(producer &&of) noexcept : viewed(std::move(of)) {}

    ANNULUS_ALWAYS_ result<std::span<T>> reserved(std::size_t most, std::uint64_t ns) noexcept {
        void *slots = nullptr;
        std::size_t count = 0;
        const status status = annulus_spsc_reserve(&this->view_, most, ns, &slots, &count);
        if (status != ANNULUS_OK) return status;
        return detail::typed<T>(slots, count);
    }
};

// The receiving end. Move it into the function that receives.
template <class T>
class receiver : detail::message_type<T>,
                 detail::viewed<consumer, annulus_spsc_consumer, annulus_spsc_consumer_open, annulus_spsc_consumer_end> {
    using viewed = typename receiver::viewed;

  public:
    ANNULUS_MOVES_(receiver);
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> try_recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_spsc_try_recv(&this->view_, into, sizeof(T)); });
    }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_spsc_recv(&this->view_, into, sizeof(T)); });
    }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) {
            const status received = annulus_spsc_recv_timeout(&this->view_, into, sizeof(T), detail::ns(time));
            return received == ANNULUS_EMPTY ? ANNULUS_TIMEOUT : received;
        });
    }
    // The next messages, where they lie; `advance` takes the first ones out of the queue.
    ANNULUS_ALWAYS_ result<std::span<const T>> readable() noexcept { return shown(0); }
    ANNULUS_ALWAYS_ result<std::span<const T>> wait_readable() noexcept { return shown(ANNULUS_FOREVER); }
    [[nodiscard]] ANNULUS_ALWAYS_ status advance(std::size_t count) noexcept { return annulus_spsc_advance(&this->view_, count); }

    [[nodiscard]] ANNULUS_ALWAYS_ std::size_t size() const noexcept { return this->handle_.size(); }
    [[nodiscard]] ANNULUS_ALWAYS_ std::size_t capacity() const noexcept { return this->handle_.capacity(); }
    status close() noexcept { return this->handle_.close(); }
    [[nodiscard]] ANNULUS_ALWAYS_ bool is_closed() const noexcept { return this->handle_.is_closed(); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<annulus::closer> closer() const noexcept { return this->handle_.closer(); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<annulus_stats> stats() const noexcept { return this->handle_.stats(); }

  private:
    friend result<std::pair<sender<T>, receiver<T>>> channel<T>(const options &) noexcept;
    ANNULUS_ALWAYS_ explicit receiver(consumer &&of) noexcept : viewed(std::move(of)) {}

    ANNULUS_ALWAYS_ result<std::span<const T>> shown(std::uint64_t ns) noexcept {
        const void *messages = nullptr;
        std::size_t count = 0;
        const status status = annulus_spsc_readable(&this->view_, ns, &messages, &count);
        if (status != ANNULUS_OK) return status;
        return detail::typed<T>(messages, count);
    }
};

// A queue that holds exactly `options.capacity` messages.
template <class T> [[nodiscard]] result<std::pair<sender<T>, receiver<T>>> channel(const options &options) noexcept {
    auto made = queue(ANNULUS_SPSC, options, sizeof(T));
    if (!made) return made.error();
    return std::pair(sender<T>(std::move(made->first)), receiver<T>(std::move(made->second)));
}

} // namespace spsc

// The other queues: as `spsc`, by calls, with `clone` for the end of which there are many.
#define ANNULUS_QUEUE_(name, kind)                                                                                     \
    namespace name {                                                                                                   \
    template <class T> using sender = detail::sender<T>;                                                               \
    template <class T> using receiver = detail::receiver<T>;                                                           \
    template <class T> [[nodiscard]] result<std::pair<sender<T>, receiver<T>>> channel(const options &options) noexcept { \
        return detail::channel<T, kind>(options);                                                                      \
    }                                                                                                                  \
    }
ANNULUS_QUEUE_(mpsc, ANNULUS_MPSC)
ANNULUS_QUEUE_(spmc, ANNULUS_SPMC)
ANNULUS_QUEUE_(mpmc, ANNULUS_MPMC)
ANNULUS_QUEUE_(ordered, ANNULUS_ORDERED)
#undef ANNULUS_QUEUE_

namespace detail {

// The sending end of a typed broadcast ring of any kind.
template <class T> class typed_publisher : message_type<T> {
  public:
    explicit typed_publisher(annulus::publisher &&of) noexcept : publisher_(std::move(of)) {}

    [[nodiscard]] status publish(const T &message) noexcept {
        return annulus_publisher_publish(publisher_.get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status try_publish(const T &message) noexcept {
        return annulus_publisher_try_publish(publisher_.get(), std::addressof(message), sizeof(T));
    }
    [[nodiscard]] status publish_for(const T &message, timeout time) noexcept {
        return annulus_publisher_publish_timeout(publisher_.get(), std::addressof(message), sizeof(T), ns(time));
    }
    [[nodiscard]] result<typed_publisher> clone() const noexcept {
        auto another = publisher_.clone();
        if (!another) return another.error();
        return typed_publisher(std::move(*another));
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return publisher_.capacity(); }
    status close() noexcept { return publisher_.close(); }
    [[nodiscard]] bool is_closed() const noexcept { return publisher_.is_closed(); }
    [[nodiscard]] result<annulus::closer> closer() const noexcept { return publisher_.closer(); }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return publisher_.stats(); }

  private:
    annulus::publisher publisher_;
};

// A receiving end of a typed broadcast ring of any kind.
template <class T> class typed_subscriber : message_type<T> {
  public:
    explicit typed_subscriber(annulus::subscriber &&of) noexcept : subscriber_(std::move(of)) {}

    [[nodiscard]] result<T> try_recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_subscriber_try_recv(subscriber_.get(), into, sizeof(T)); });
    }
    [[nodiscard]] result<T> recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_subscriber_recv(subscriber_.get(), into, sizeof(T)); });
    }
    [[nodiscard]] result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) {
            return annulus_subscriber_recv_timeout(subscriber_.get(), into, sizeof(T), ns(time));
        });
    }
    [[nodiscard]] std::uint64_t lagged() const noexcept { return subscriber_.lagged(); }
    [[nodiscard]] std::uint64_t received() const noexcept { return subscriber_.received(); }
    [[nodiscard]] std::size_t size() const noexcept { return subscriber_.size(); }
    [[nodiscard]] bool is_closed() const noexcept { return subscriber_.is_closed(); }
    [[nodiscard]] result<int> fd() noexcept { return subscriber_.fd(); }
    [[nodiscard]] result<bool> arm() noexcept { return subscriber_.arm(); }
    [[nodiscard]] result<annulus_stats> stats() const noexcept { return subscriber_.stats(); }

  private:
    annulus::subscriber subscriber_;
};

// What makes the subscribers of a typed broadcast ring.
template <class Subscriber> class typed_subscribable {
  public:
    explicit typed_subscribable(annulus::subscribable &&of) noexcept : subscribable_(std::move(of)) {}

    [[nodiscard]] result<Subscriber> subscribe() const noexcept { return made(subscribable_.subscribe()); }
    [[nodiscard]] result<Subscriber> subscribe_from_oldest() const noexcept {
        return made(subscribable_.subscribe_from_oldest());
    }

  private:
    static result<Subscriber> made(result<annulus::subscriber> &&untyped) noexcept {
        if (!untyped) return untyped.error();
        return Subscriber(std::move(*untyped));
    }

    annulus::subscribable subscribable_;
};

template <class T, class Publisher, class Subscriber>
[[nodiscard]] result<std::pair<Publisher, typed_subscribable<Subscriber>>> broadcast_channel(std::uint32_t kind, const options &options) noexcept {
    static_assert(sizeof(T) <= ANNULUS_MESSAGE_MAX, "a message of a broadcast ring has at most ANNULUS_MESSAGE_MAX bytes");
    auto made = annulus::broadcast(kind, options, sizeof(T));
    if (!made) return made.error();
    return std::pair(Publisher(std::move(made->first)), typed_subscribable<Subscriber>(std::move(made->second)));
}

} // namespace detail

// One publisher, which waits for nobody: who falls behind loses the oldest messages. Inline.
namespace lossy {

// The sending end. Move it into the function that publishes.
template <class T>
class publisher
    : detail::message_type<T>,
      detail::viewed<annulus::publisher, annulus_lossy_publisher, annulus_lossy_publisher_open, annulus_lossy_publisher_end> {
    using viewed = typename publisher::viewed;

  public:
    ANNULUS_MOVES_(publisher);
    ANNULUS_ALWAYS_ explicit publisher(annulus::publisher &&of) noexcept : viewed(std::move(of)) {}

    [[nodiscard]] ANNULUS_ALWAYS_ status publish(const T &message) noexcept {
        return annulus_lossy_publish(&this->view_, std::addressof(message), sizeof(T));
    }
    [[nodiscard]] ANNULUS_ALWAYS_ std::size_t capacity() const noexcept { return this->handle_.capacity(); }
    status close() noexcept { return this->handle_.close(); }
    [[nodiscard]] ANNULUS_ALWAYS_ bool is_closed() const noexcept { return this->handle_.is_closed(); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<annulus::closer> closer() const noexcept { return this->handle_.closer(); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<annulus_stats> stats() const noexcept { return this->handle_.stats(); }
};

// A receiving end. Move it into the function that receives.
template <class T>
class subscriber : detail::message_type<T>,
                   detail::viewed<annulus::subscriber, annulus_lossy_subscriber, annulus_lossy_subscriber_open,
                                  annulus_lossy_subscriber_end> {
    using viewed = typename subscriber::viewed;

  public:
    ANNULUS_MOVES_(subscriber);
    ANNULUS_ALWAYS_ explicit subscriber(annulus::subscriber &&of) noexcept : viewed(std::move(of)) {}

    [[nodiscard]] ANNULUS_ALWAYS_ result<T> try_recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_lossy_try_recv(&this->view_, into, sizeof(T)); });
    }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv() noexcept {
        return result<T>::from([&](void *into) { return annulus_lossy_recv(&this->view_, into, sizeof(T)); });
    }
    [[nodiscard]] ANNULUS_ALWAYS_ result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) {
            const status received = annulus_lossy_recv_timeout(&this->view_, into, sizeof(T), detail::ns(time));
            return received == ANNULUS_EMPTY ? ANNULUS_TIMEOUT : received;
        });
    }
    // How many messages it has lost, exactly.
    [[nodiscard]] ANNULUS_ALWAYS_ std::uint64_t lagged() const noexcept { return this->handle_.lagged(); }
    [[nodiscard]] ANNULUS_ALWAYS_ bool is_closed() const noexcept { return this->handle_.is_closed(); }
    [[nodiscard]] ANNULUS_ALWAYS_ result<annulus_stats> stats() const noexcept { return this->handle_.stats(); }
};

template <class T> using subscribable = detail::typed_subscribable<subscriber<T>>;

template <class T> [[nodiscard]] result<std::pair<publisher<T>, subscribable<T>>> channel(const options &options) noexcept {
    return detail::broadcast_channel<T, publisher<T>, subscriber<T>>(ANNULUS_LOSSY, options);
}

} // namespace lossy

// The other broadcast rings: as `lossy`, by calls.
#define ANNULUS_BROADCAST_(name, kind)                                                                                 \
    namespace name {                                                                                                   \
    template <class T> using publisher = detail::typed_publisher<T>;                                                   \
    template <class T> using subscriber = detail::typed_subscriber<T>;                                                 \
    template <class T> using subscribable = detail::typed_subscribable<subscriber<T>>;                                 \
    template <class T> [[nodiscard]] result<std::pair<publisher<T>, subscribable<T>>> channel(const options &options) noexcept { \
        return detail::broadcast_channel<T, publisher<T>, subscriber<T>>(kind, options);                               \
    }                                                                                                                  \
    }
ANNULUS_BROADCAST_(lossless, ANNULUS_LOSSLESS)
ANNULUS_BROADCAST_(mp_lossy, ANNULUS_MP_LOSSY)
ANNULUS_BROADCAST_(mp_lossless, ANNULUS_MP_LOSSLESS)
#undef ANNULUS_BROADCAST_
#undef ANNULUS_ALWAYS_
#undef ANNULUS_MOVES_

} // namespace annulus

#endif // ANNULUS_HPP
