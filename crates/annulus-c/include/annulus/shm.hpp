// Rings between processes: made in one, joined by others, which may be written in C, C++, Rust or Zig. (Linux.)
//
//     template <> inline constexpr const char *annulus::shm::schema<order> = "order{id:u64,price:f64}";
//
//     auto made = annulus::shm::spsc::producer<order>({.capacity = 1024});      // this process sends
//     auto &[sender, invitation] = *made;
//     auto name = invitation.publish(nullptr, "orders");                        // as long as `name` lives
//
//     auto invitation = annulus::shm::invitation::find(nullptr, "orders", 10s); // another one receives
//     auto receiver = annulus::shm::spsc::consumer<order>(*invitation);
#ifndef ANNULUS_SHM_HPP
#define ANNULUS_SHM_HPP

#include <annulus/broadcast.hpp>
#include <annulus/bytes.hpp>
#include <annulus/queue.hpp>

#include <string_view>

namespace annulus {

template <> struct detail::functions<annulus_invitation> {
    static constexpr auto free = annulus_invitation_free;
};

template <> struct detail::functions<annulus_name> {
    static constexpr auto free = annulus_name_free;
};

template <> struct detail::functions<annulus_shared_queue> {
    static constexpr auto free = annulus_shared_queue_free;
};

template <> struct detail::functions<annulus_claimed> {
    static constexpr auto free = annulus_claimed_free;
};

namespace shm {

// What a message is made of, as text: names, kinds and places of its fields, which have to be equal on both sides of a ring. The grammar
// is in docs/SCHEMA.md. Specialize it for each type of your own.
template <class T> inline constexpr const char *schema = nullptr;
template <> inline constexpr const char *schema<std::uint8_t> = "u8";
template <> inline constexpr const char *schema<std::uint16_t> = "u16";
template <> inline constexpr const char *schema<std::uint32_t> = "u32";
template <> inline constexpr const char *schema<std::uint64_t> = "u64";
template <> inline constexpr const char *schema<std::int8_t> = "i8";
template <> inline constexpr const char *schema<std::int16_t> = "i16";
template <> inline constexpr const char *schema<std::int32_t> = "i32";
template <> inline constexpr const char *schema<std::int64_t> = "i64";
template <> inline constexpr const char *schema<float> = "f32";
template <> inline constexpr const char *schema<double> = "f64";

// Why a ring was not made or joined: the values of both sides where they differ, errno, and all of it in English.
struct error : annulus_shared_error {
    error() noexcept : annulus_shared_error(ANNULUS_SHARED_ERROR) {}

    [[nodiscard]] std::string_view message() const noexcept { return text; }
};

// What a ring is made of, and what a process that joins asks for.
struct options {
    // How many messages it holds, or how many bytes of records. A process that joins has the ring's.
    std::size_t capacity = 0;
    annulus_wait wait = {ANNULUS_WAIT_DEFAULT, 0, 0};
    // How many producers, publishers, or subscribers of a lossless ring of one publisher there can be; 0 is 16.
    std::uint32_t places = 0;
    // ANNULUS_STATISTICS, ANNULUS_WAIT_FOR_NEXT_CONSUMER, ANNULUS_CLOSE_WITH_LAST_PRODUCER, and of `mpmc` ANNULUS_CLOSE_WITH_LAST_CONSUMER,
    // ANNULUS_DROP_UNRECEIVED.
    std::uint32_t flags = 0;
    // How many consumers of `mpmc`, or subscribers of `mp_lossless`, there can be; 0 is 16.
    std::uint32_t receivers = 0;
    // A publisher's promise not to be silent for longer; a subscriber's: then it calls the publisher overdue, whatever that has promised.
    timeout deadline = {};
    // The name whose numbers a ring of one publisher goes on with, and its directory; null is the directory of the user.
    const char *numbering = nullptr, *numbering_directory = nullptr;

    template <class T> [[nodiscard]] annulus_shared_options of() const noexcept {
        static_assert(is_message<T>, "a message goes through the ring as its bytes, so it has to be trivially copyable");
        static_assert(schema<T> != nullptr, "say what a message is made of: specialize annulus::shm::schema");
        return whole(sizeof(T), alignof(T), schema<T>);
    }
    // Of a queue of records, which are bytes.
    [[nodiscard]] annulus_shared_options of_bytes() const noexcept {
        return whole(1, 1, nullptr);
    }

  private:
    annulus_shared_options whole(std::size_t size, std::size_t alignment, const char *of_schema) const noexcept {
        return {sizeof(annulus_shared_options), capacity, size, alignment, of_schema, wait, places, flags, receivers,
                annulus::detail::ns(deadline), numbering, numbering_directory};
    }
};

// Waits for as long as it takes.
inline constexpr timeout forever = timeout::max();

// The name of a ring, as long as this lives.
class name : public detail::owned<annulus_name> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(name);
};

// What another process needs to join a ring. Several threads may use it at once.
class invitation : public detail::owned<annulus_invitation> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(invitation);

    // Through a Unix socket, from one process to the other.
    [[nodiscard]] status send(int socket) const noexcept { return annulus_invitation_send(get(), socket); }
    [[nodiscard]] static result<invitation> receive(int socket) noexcept {
        return detail::made<invitation>([&](annulus_invitation **to) { return annulus_invitation_receive(socket, to); });
    }

    // By a name, in a directory; null is that of the user. With a `time` of 0, `find` does not wait for a ring, but for two seconds at most for
    // the answer of a process that it has to ask for the ring's descriptors.
    [[nodiscard]] result<shm::name> publish(const char *directory, const char *name, error *why = nullptr) const noexcept {
        return detail::made<shm::name>(
            [&](annulus_name **to) { return annulus_invitation_publish(get(), directory, name, to, why); });
    }
    [[nodiscard]] static result<invitation> find(const char *directory, const char *name, timeout time = {}, error *why = nullptr) noexcept {
        const std::uint64_t ns = time == forever ? ANNULUS_FOREVER : detail::ns(time);
        return detail::made<invitation>(
            [&](annulus_invitation **to) { return annulus_invitation_find(directory, name, ns, to, why); });
    }
};

namespace detail {

// A handle of a ring that `join` joins by an invitation.
template <class T, class Handle, class Join>
result<Handle> joined(Join join, const invitation &by, const options &options, error *why) noexcept {
    const annulus_shared_options of = options.of<T>();
    return annulus::detail::made<Handle>([&](typename Handle::raw **to) { return join(by.get(), &of, to, why); });
}

// The first handle of a ring, and the invitation to it.
template <class T, class Handle, class Make>
result<std::pair<Handle, invitation>> made(Make make, const options &options, error *why) noexcept {
    const annulus_shared_options of = options.of<T>();
    return annulus::detail::made_both<Handle, invitation>(
        [&](typename Handle::raw **to, annulus_invitation **invites) { return make(&of, to, invites, why); });
}

template <class T>
result<std::pair<annulus::detail::typed_publisher<T>, invitation>> publishes(std::uint32_t kind, const options &options, error *why) noexcept {
    const auto make = [kind](auto... arguments) { return annulus_shared_publisher_new(kind, arguments...); };
    return made<T, annulus::detail::typed_publisher<T>>(make, options, why);
}

} // namespace detail

// From one process to another one.
namespace spsc {

template <class T> using sender = annulus::detail::sender<T>;
template <class T> using receiver = annulus::detail::receiver<T>;

// Makes the queue: this process sends.
template <class T> [[nodiscard]] result<std::pair<sender<T>, invitation>> producer(const options &options, error *why = nullptr) noexcept {
    return detail::made<T, sender<T>>(annulus_shared_producer_new, options, why);
}
// Joins it: this process receives, behind the last message that was received.
template <class T> [[nodiscard]] result<receiver<T>> consumer(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, receiver<T>>(annulus_invitation_consumer, by, options, why);
}

} // namespace spsc

// Records of any length, from one process to another one.
namespace bytes {

// Makes the queue, of `options.capacity` bytes: this process sends.
[[nodiscard]] inline result<std::pair<annulus::bytes::producer, invitation>> producer(const options &options, error *why = nullptr) noexcept {
    const annulus_shared_options of = options.of_bytes();
    return annulus::detail::made_both<annulus::bytes::producer, invitation>([&](annulus_bytes_producer **to, annulus_invitation **invites) {
        return annulus_shared_bytes_producer_new(&of, to, invites, why);
    });
}
// Joins it: this process receives, behind the last record that was received.
[[nodiscard]] inline result<annulus::bytes::consumer> consumer(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    const annulus_shared_options of = options.of_bytes();
    return annulus::detail::made<annulus::bytes::consumer>(
        [&](annulus_bytes_consumer **to) { return annulus_invitation_bytes_consumer(by.get(), &of, to, why); });
}

} // namespace bytes

// From several processes to one.
namespace mpsc {

template <class T> using sender = annulus::detail::sender<T>;
template <class T> using receiver = annulus::detail::receiver<T>;

// Makes the queue: this process receives.
template <class T> [[nodiscard]] result<std::pair<receiver<T>, invitation>> consumer(const options &options, error *why = nullptr) noexcept {
    return detail::made<T, receiver<T>>(annulus_shared_consumer_new, options, why);
}
// Joins it: this process sends, in a ring of its own.
template <class T> [[nodiscard]] result<sender<T>> producer(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, sender<T>>(annulus_invitation_producer, by, options, why);
}
// Joins it where the consumer before is gone.
template <class T> [[nodiscard]] result<receiver<T>> consumer(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, receiver<T>>(annulus_invitation_consumer, by, options, why);
}

} // namespace mpsc

// From several processes to several: each message reaches one consumer, also if a process dies that had claimed it.
//
//     auto made = annulus::shm::mpmc::queues<job>({.capacity = 64, .places = 2, .receivers = 8});
//     auto &[queue, invitation] = *made;
//     auto sender = annulus::shm::mpmc::producer<job>(invitation);
//     auto worker = annulus::shm::mpmc::consumer<job>(invitation);              // usually other processes
//     auto claimed = worker->claim(10s);
//     work(claimed->message());
//     std::move(*claimed).done();                                              // dropped, another worker has it
namespace mpmc {

// A message that a consumer has claimed, and that no other one has. The end of this gives it back. It may move to another thread.
template <class T> class claimed : public annulus::detail::owned<annulus_claimed> {
  public:
    claimed() = default;
    claimed(annulus_claimed *handle, const T &message) noexcept : owned(handle), message_(message) {}
    ANNULUS_MOVES_(claimed);

    [[nodiscard]] const T &message() const noexcept { return message_; }
    // It is received: nobody has it again.
    status done() && noexcept { return annulus_claimed_done(release()); }
    // How often it was given before, 15 at most.
    [[nodiscard]] std::uint64_t given_before() const noexcept { return annulus_claimed_given_before(get()); }

  private:
    T message_{};
};

template <class T> using sender = annulus::detail::sender<T>;

// A consumer: it receives messages, or claims them.
template <class T> class receiver : public annulus::detail::receiver<T> {
  public:
    using annulus::detail::receiver<T>::receiver;

    // Waits for so long at most; with 0 not at all (ANNULUS_EMPTY).
    [[nodiscard]] result<claimed<T>> claim(timeout time = forever) noexcept {
        T message;
        annulus_claimed *handle = nullptr;
        const std::uint64_t ns = time == forever ? ANNULUS_FOREVER : annulus::detail::ns(time);
        const status code = annulus_consumer_claim(this->get(), std::addressof(message), sizeof message, ns, &handle);
        if (code != ANNULUS_OK) return code;
        return claimed<T>(handle, message);
    }
};

// The queue as a whole, which neither sends nor receives. Several threads may use it at once.
class queue : public annulus::detail::owned<annulus_shared_queue> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(queue);

    // How many messages wait, and how many producers and consumers are there.
    [[nodiscard]] std::size_t size() const noexcept { return annulus_shared_queue_len(get()); }
    [[nodiscard]] std::size_t producers() const noexcept { return annulus_shared_queue_producers(get()); }
    [[nodiscard]] std::size_t consumers() const noexcept { return annulus_shared_queue_consumers(get()); }
    // How many messages were given again, or dropped, of consumers that died with them.
    [[nodiscard]] std::uint64_t given_again() const noexcept { return annulus_shared_queue_given_again(get()); }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return annulus_shared_queue_dropped(get()); }
    status close() const noexcept { return annulus_shared_queue_close(get()); }
    [[nodiscard]] bool is_closed() const noexcept { return annulus_shared_queue_is_closed(get()); }
};

// Makes the queue.
template <class T> [[nodiscard]] result<std::pair<queue, invitation>> queues(const options &options, error *why = nullptr) noexcept {
    static_assert(sizeof(T) <= ANNULUS_MESSAGE_MAX, "a message of such a queue has at most ANNULUS_MESSAGE_MAX bytes");
    return detail::made<T, queue>(annulus_shared_queue_new, options, why);
}
// Looks at it.
template <class T> [[nodiscard]] result<queue> queues(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, queue>(annulus_invitation_queue, by, options, why);
}
// Joins it: this process sends, in a ring of its own.
template <class T> [[nodiscard]] result<sender<T>> producer(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, sender<T>>(annulus_invitation_producer, by, options, why);
}
// Joins it: this process receives.
template <class T> [[nodiscard]] result<receiver<T>> consumer(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, receiver<T>>(annulus_invitation_consumer, by, options, why);
}

} // namespace mpmc

template <class T> using publisher = annulus::detail::typed_publisher<T>;
template <class T> using subscriber = annulus::detail::typed_subscriber<T>;
template <class T> using subscribable = annulus::detail::subscribable<subscriber<T>>;

// Joins a broadcast ring of any kind: makes subscribers in this process. A ring of one publisher is mapped read-only.
template <class T> [[nodiscard]] result<subscribable<T>> subscribes(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, subscribable<T>>(annulus_invitation_subscribable, by, options, why);
}

// One publisher, which waits for nobody.
namespace lossy {

template <class T> [[nodiscard]] result<std::pair<publisher<T>, invitation>> publishes(const options &options, error *why = nullptr) noexcept {
    return detail::publishes<T>(ANNULUS_LOSSY, options, why);
}

} // namespace lossy

// One publisher, which waits for the slowest subscriber.
namespace lossless {

template <class T> [[nodiscard]] result<std::pair<publisher<T>, invitation>> publishes(const options &options, error *why = nullptr) noexcept {
    return detail::publishes<T>(ANNULUS_LOSSLESS, options, why);
}

} // namespace lossless

// Publishers in several processes, which wait for nobody.
namespace mp_lossy {

template <class T> [[nodiscard]] result<std::pair<publisher<T>, invitation>> publishes(const options &options, error *why = nullptr) noexcept {
    return detail::publishes<T>(ANNULUS_MP_LOSSY, options, why);
}
// Joins it as another publisher.
template <class T> [[nodiscard]] result<publisher<T>> publishes(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, publisher<T>>(annulus_invitation_publisher, by, options, why);
}

} // namespace mp_lossy

// Publishers in several processes, which wait for the slowest of `options.receivers` subscribers.
namespace mp_lossless {

template <class T> [[nodiscard]] result<std::pair<publisher<T>, invitation>> publishes(const options &options, error *why = nullptr) noexcept {
    return detail::publishes<T>(ANNULUS_MP_LOSSLESS, options, why);
}
// Joins it as another publisher.
template <class T> [[nodiscard]] result<publisher<T>> publishes(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    return detail::joined<T, publisher<T>>(annulus_invitation_publisher, by, options, why);
}

} // namespace mp_lossless

} // namespace shm

} // namespace annulus

#endif // ANNULUS_SHM_HPP
