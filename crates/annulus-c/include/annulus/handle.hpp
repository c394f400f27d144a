// What all handles have in common: a handle of C, which is freed with its owner, and the verbs that its table of functions has.
#ifndef ANNULUS_HANDLE_HPP
#define ANNULUS_HANDLE_HPP

#include <annulus/result.hpp>

#include <span>

#define ANNULUS_MOVES_(name)                                                                                           \
    ANNULUS_ALWAYS_ name(name &&) noexcept = default;                                                                  \
    ANNULUS_ALWAYS_ name &operator=(name &&) noexcept = default;                                                       \
    ANNULUS_ALWAYS_ ~name() = default

namespace annulus {

class closer;

namespace detail {

// The functions of C for one type of handle. A verb that has no function here is none of that handle.
template <class Raw> struct functions;

template <> struct functions<annulus_closer> {
    static constexpr auto free = annulus_closer_free;
};

// A handle of C, freed with its owner.
template <class Raw> class owned {
  public:
    // What it is of C.
    using raw = Raw;

    ANNULUS_ALWAYS_ explicit owned(Raw *handle = nullptr) noexcept : raw_(handle) {}
    ANNULUS_ALWAYS_ owned(owned &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    ANNULUS_ALWAYS_ owned &operator=(owned &&other) noexcept {
        if (this != &other) {
            functions<Raw>::free(raw_);
            raw_ = std::exchange(other.raw_, nullptr);
        }
        return *this;
    }
    ANNULUS_ALWAYS_ ~owned() { functions<Raw>::free(raw_); }

    // The handle of C; null where this was moved from.
    [[nodiscard]] Raw *get() const noexcept { return raw_; }
    // The handle of C, which is the caller's to free from now on.
    [[nodiscard]] Raw *release() noexcept { return std::exchange(raw_, nullptr); }
    [[nodiscard]] explicit operator bool() const noexcept { return raw_ != nullptr; }

  private:
    Raw *raw_;
};

// The handle that `make(Raw **)` makes.
template <class Handle, class Make> result<Handle> made(Make make) noexcept {
    typename Handle::raw *handle = nullptr;
    const status code = make(&handle);
    if (code != ANNULUS_OK) return code;
    return Handle(handle);
}

// The two handles that `make(Raw **, Raw **)` makes.
template <class First, class Second, class Make> result<std::pair<First, Second>> made_both(Make make) noexcept {
    typename First::raw *first = nullptr;
    typename Second::raw *second = nullptr;
    const status code = make(&first, &second);
    if (code != ANNULUS_OK) return code;
    return std::pair<First, Second>(First(first), Second(second));
}

} // namespace detail

// Closes a ring, from any thread.
class closer : public detail::owned<annulus_closer> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(closer);
    status close() const noexcept { return annulus_closer_close(get()); }
};

namespace detail {

// One end of a ring: what any end knows of its ring. A verb that an end does not have does not compile.
template <class Raw> class end : public owned<Raw> {
    using of = functions<Raw>;

  public:
    using owned<Raw>::owned;
    ANNULUS_MOVES_(end);

    // How many messages are there.
    [[nodiscard]] ANNULUS_ALWAYS_ std::size_t size() const noexcept
        requires requires { of::len; }
    {
        return of::len(this->get());
    }
    [[nodiscard]] ANNULUS_ALWAYS_ std::size_t capacity() const noexcept
        requires requires { of::capacity; }
    {
        return of::capacity(this->get());
    }
    status close() noexcept
        requires requires { of::close; }
    {
        return of::close(this->get());
    }
    [[nodiscard]] ANNULUS_ALWAYS_ bool is_closed() const noexcept { return of::is_closed(this->get()); }
    // What closes the ring from any thread.
    [[nodiscard]] result<annulus::closer> closer() const noexcept
        requires requires { of::closer; }
    {
        return made<annulus::closer>([&](annulus_closer **to) { return of::closer(this->get(), to); });
    }
    [[nodiscard]] result<annulus_stats> stats() const noexcept {
        return asked<annulus_stats>([&](annulus_stats *to) {
            to->size = sizeof *to;
            return of::stats(this->get(), to);
        });
    }
    // Of a ring between processes: whether the process on the other side is there.
    [[nodiscard]] result<annulus_peer> peer() const noexcept
        requires requires { of::peer; }
    {
        return asked<annulus_peer>([&](annulus_peer *to) { return of::peer(this->get(), to); });
    }
    // Between processes: how many messages were passed over, because another process had written what is none (ANNULUS_CORRUPT).
    [[nodiscard]] std::uint64_t corrupt() const noexcept
        requires requires { of::corrupt; }
    {
        return of::corrupt(this->get());
    }

  protected:
    // Another one of the same ring.
    template <class Handle> result<Handle> another() const noexcept {
        return made<Handle>([&](Raw **to) { return of::clone(this->get(), to); });
    }
};

// A receiving end of blocks of bytes.
template <class Raw> class receiving : public end<Raw> {
    using of = functions<Raw>;

  public:
    using end<Raw>::end;
    ANNULUS_MOVES_(receiving);

    [[nodiscard]] status try_recv(std::span<std::byte> message) noexcept {
        return of::try_recv(this->get(), message.data(), message.size());
    }
    [[nodiscard]] status recv(std::span<std::byte> message) noexcept {
        return of::recv(this->get(), message.data(), message.size());
    }
    [[nodiscard]] status recv_for(std::span<std::byte> message, timeout time) noexcept {
        return of::recv_timeout(this->get(), message.data(), message.size(), ns(time));
    }
    // A descriptor for poll and epoll; `arm` before each wait says whether something is there already.
    [[nodiscard]] result<int> fd() noexcept {
        return asked<int>([&](int *to) { return of::fd(this->get(), to); });
    }
    [[nodiscard]] result<bool> arm() noexcept {
        return asked<bool>([&](bool *to) { return of::arm(this->get(), to); });
    }
};

// What every typed handle asks of its messages.
template <class T> struct message_type {
    static_assert(is_message<T>, "a message goes through the ring as its bytes, so it has to be trivially copyable");
};

// A receiving end whose messages have a type.
template <class T, class Untyped> class receiving_typed : message_type<T>, public Untyped {
    using of = functions<typename Untyped::raw>;

  public:
    using Untyped::Untyped;

    [[nodiscard]] result<T> try_recv() noexcept {
        return result<T>::from([&](void *into) { return of::try_recv(this->get(), into, sizeof(T)); });
    }
    [[nodiscard]] result<T> recv() noexcept {
        return result<T>::from([&](void *into) { return of::recv(this->get(), into, sizeof(T)); });
    }
    [[nodiscard]] result<T> recv_for(timeout time) noexcept {
        return result<T>::from([&](void *into) { return of::recv_timeout(this->get(), into, sizeof(T), ns(time)); });
    }
    [[nodiscard]] Untyped &untyped() noexcept { return *this; }
};

// Messages in a ring as the array that they are: slots begin at a multiple of 128, and lie a multiple of 8 bytes apart.
template <class T, class Byte> std::span<std::conditional_t<std::is_const_v<Byte>, const T, T>> typed(Byte *first, std::size_t count) noexcept {
    static_assert(sizeof(T) % 8 == 0 && alignof(T) <= 128, "in place, the size of a message has to be a multiple of 8");
    using Item = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return {static_cast<Item *>(first), count};
}

// A handle and its view (annulus_inline.h), which ends first.
template <class Raw, class View, status (*open)(View *, Raw *), status (*stop)(View *)> class viewed : protected end<Raw> {
  public:
    ANNULUS_ALWAYS_ explicit viewed(Raw *handle) noexcept : end<Raw>(handle) { open(&view_, handle); }
    ANNULUS_ALWAYS_ viewed(viewed &&other) noexcept : end<Raw>(std::move(other)), view_(other.view_), rests_(other.rests_) { other.forget(); }
    ANNULUS_ALWAYS_ viewed &operator=(viewed &&other) noexcept {
        if (this != &other) {
            stop(&view_);
            end<Raw>::operator=(std::move(other));
            view_ = other.view_;
            rests_ = other.rests_;
            other.forget();
        }
        return *this;
    }
    ANNULUS_ALWAYS_ ~viewed() { stop(&view_); }

    using typename owned<Raw>::raw;
    using owned<Raw>::operator bool;
    using end<Raw>::capacity, end<Raw>::close, end<Raw>::is_closed, end<Raw>::closer, end<Raw>::stats;

    // The handle of C, which has a view: its verbs that send, receive or free return ANNULUS_VIEWED. Null where this was moved from.
    using owned<Raw>::get;
    // The handle of C without its view, which is the caller's to free from now on.
    [[nodiscard]] ANNULUS_ALWAYS_ Raw *release() noexcept {
        stop(&view_);
        rests_ = false;
        return owned<Raw>::release();
    }

  protected:
    // What `call` returns, which uses the view. A view that rests begins anew first.
    template <class Call> ANNULUS_ALWAYS_ status by_view(Call call) noexcept {
        for (;;) {
            const status code = call();
            // A view that rests says so.
            if (code != ANNULUS_INVALID || !rests_) [[likely]] return code;
            rests_ = false;
            open(&view_, this->get());
        }
    }

    // The handle, whose own functions work until the view is used again.
    Raw *rested() noexcept {
        if (!rests_) {
            stop(&view_);
            rests_ = this->get() != nullptr;
        }
        return this->get();
    }

    View view_;

  private:
    // The other one has the view from now on: this one is as one that was ended.
    ANNULUS_ALWAYS_ void forget() noexcept {
        open(&view_, nullptr);
        rests_ = false;
    }

    // Whether the view was ended, to begin anew where it is used.
    bool rests_ = false;
};

// As `viewed`, of a handle that receives: with the descriptor, which only the handle itself can arm.
template <class Raw, class View, status (*open)(View *, Raw *), status (*stop)(View *)>
class viewed_receiving : public viewed<Raw, View, open, stop> {
    using of = functions<Raw>;

  public:
    using viewed<Raw, View, open, stop>::viewed;
    ANNULUS_MOVES_(viewed_receiving);

    // A descriptor for poll and epoll; `arm` before each wait says whether something is there already. A receive disarms it. Messages that
    // are shown are advanced over before: the next look shows the others anew.
    [[nodiscard]] result<int> fd() noexcept {
        return asked<int>([&](int *to) { return of::fd(this->rested(), to); });
    }
    [[nodiscard]] result<bool> arm() noexcept {
        return asked<bool>([&](bool *to) { return of::arm(this->rested(), to); });
    }
};

} // namespace detail

} // namespace annulus

#endif // ANNULUS_HANDLE_HPP
