// Frames between processes: images, point clouds, tensors, which are written once, where all subscribers read them. (Linux.)
//
//     auto made = annulus::shm::frames::publishes<float>({.capacity = 4}, {.frame_bytes = 1 << 20}); // frames of floats
//     auto &[publisher, invitation] = *made;
//     auto loan = publisher.loan(100);                                     // std::span<float>
//     std::ranges::fill(*loan, 1.5f);
//     auto number = publisher.publish(100);
//
//     auto subscriber = annulus::shm::frames::subscribes<float>(invitation); // usually another process
//     auto frame = subscriber->recv();                                     // held as long as this lives
//     float first = frame->values()[0];
#ifndef ANNULUS_FRAMES_HPP
#define ANNULUS_FRAMES_HPP

#include <annulus/shm.hpp>

namespace annulus {

template <> struct detail::functions<annulus_frame_publisher> {
    static constexpr auto free = annulus_frame_publisher_free;
};

template <> struct detail::functions<annulus_frame_subscriber> {
    static constexpr auto free = annulus_frame_subscriber_free;
};

template <> struct detail::functions<annulus_held_frame> {
    static constexpr auto free = annulus_held_frame_free;
};

namespace shm::frames {

// What a ring of frames is made of, beside its `options`.
struct frame_options {
    // How many bytes a frame may have.
    std::size_t frame_bytes = 0;
    // At multiples of how many bytes frames begin: a power of two, 64 to 2 MiB; 0 is 64.
    std::size_t alignment = 0;
    // How many frames a subscriber may hold at one time; 0 is 2.
    std::uint32_t held = 0;
    // Whether the publisher waits for the slowest subscriber.
    bool lossless = false;
};

namespace detail {

// For frames of T: the ring says so, but for std::byte.
template <class T> annulus_shared_options of(const options &options) noexcept {
    if constexpr (std::is_same_v<T, std::byte>) {
        return options.of_bytes();
    } else {
        return options.of<T>();
    }
}

inline std::uint64_t ns(timeout time) noexcept { return time == forever ? ANNULUS_FOREVER : annulus::detail::ns(time); }

} // namespace detail

// A frame of values of T, which is held, and stays as it is, as long as this lives. It may move to another thread.
template <class T> class frame : public annulus::detail::owned<annulus_held_frame> {
  public:
    frame() = default;
    explicit frame(const annulus_frame &found) noexcept : owned(found.held), found_(found) {}
    ANNULUS_MOVES_(frame);

    // The values in place. Another process wrote them, and could do so again: unless you trust it not to, copy what you need, then check
    // the copy, and use the copy. (Bytes behind the last whole value are not shown.)
    [[nodiscard]] std::span<const T> values() const noexcept {
        return {static_cast<const T *>(found_.bytes), found_.length / sizeof(T)};
    }
    // The number of the message, from 0 on: a gap is what was lost.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return found_.sequence; }
    // Which of the ring's frames it is: what goes with each frame has the same number.
    [[nodiscard]] std::size_t index() const noexcept { return found_.index; }

  private:
    annulus_frame found_{};
};

// Writes frames of values of T.
template <class T> class publisher : public annulus::detail::owned<annulus_frame_publisher> {
    static_assert(is_message<T>, "a frame is read as its bytes, so its values have to be trivially copyable");

  public:
    using owned::owned;
    ANNULUS_MOVES_(publisher);

    // A frame of so many values to write to. What is not written has old content. Never waits.
    [[nodiscard]] result<std::span<T>> loan(std::size_t count) noexcept {
        void *bytes = nullptr;
        if (count > SIZE_MAX / sizeof(T)) return ANNULUS_WRONG_SIZE;
        const status code = annulus_frame_publisher_loan(get(), count * sizeof(T), &bytes);
        if (code != ANNULUS_OK) return code;
        return std::span<T>(static_cast<T *>(bytes), count);
    }
    // Publishes the first `count` values of the frame that was lent, and returns the number of the message. Waits where the ring is
    // lossless. Where it is refused, the frame stays lent.
    result<std::uint64_t> publish(std::size_t count, timeout time = forever) noexcept {
        if (count > SIZE_MAX / sizeof(T)) return ANNULUS_INVALID;
        return annulus::detail::asked<std::uint64_t>([&](std::uint64_t *to) {
            return annulus_frame_publisher_publish(get(), count * sizeof(T), detail::ns(time), to);
        });
    }
    // Which of the ring's frames the one is that is lent.
    [[nodiscard]] std::size_t lent() const noexcept { return annulus_frame_publisher_lent(get()); }
    // How many frames there are.
    [[nodiscard]] std::size_t frames() const noexcept { return annulus_frame_publisher_frames(get()); }
    // How many frames subscribers hold, of those that the ring no longer keeps.
    [[nodiscard]] std::size_t held() noexcept { return annulus_frame_publisher_held(get()); }
};

// Reads frames of values of T, where they lie.
template <class T> class subscriber : public annulus::detail::owned<annulus_frame_subscriber> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(subscriber);

    // The next frame. Waits for it.
    [[nodiscard]] result<frame<T>> recv(timeout time = forever) noexcept {
        return received([&](annulus_frame *to) { return annulus_frame_subscriber_recv(get(), detail::ns(time), to); });
    }
    [[nodiscard]] result<frame<T>> try_recv() noexcept { return recv(timeout::zero()); }
    // The newest frame, without a wait; those before it are passed.
    [[nodiscard]] result<frame<T>> latest() noexcept {
        return received([&](annulus_frame *to) { return annulus_frame_subscriber_latest(get(), to); });
    }
    // How many frames it has lost, or passed.
    [[nodiscard]] std::uint64_t lagged() const noexcept { return annulus_frame_subscriber_lagged(get()); }
    // How many frames there are.
    [[nodiscard]] std::size_t frames() const noexcept { return annulus_frame_subscriber_frames(get()); }
    // Whether the publisher's process is there.
    [[nodiscard]] result<annulus_peer> peer() const noexcept {
        return annulus::detail::asked<annulus_peer>([&](annulus_peer *to) { return annulus_frame_subscriber_peer(get(), to); });
    }
    // For poll and epoll, with `arm` before each wait, which says whether something is there already.
    [[nodiscard]] result<int> fd() noexcept {
        return annulus::detail::asked<int>([&](int *to) { return annulus_frame_subscriber_fd(get(), to); });
    }
    [[nodiscard]] result<bool> arm() noexcept {
        return annulus::detail::asked<bool>([&](bool *to) { return annulus_frame_subscriber_arm(get(), to); });
    }

  private:
    template <class Receive> result<frame<T>> received(Receive receive) noexcept {
        annulus_frame found{};
        const status code = receive(&found);
        if (code != ANNULUS_OK) return code;
        return frame<T>(found);
    }
};

// Makes the ring: this process publishes.
template <class T>
[[nodiscard]] result<std::pair<publisher<T>, invitation>> publishes(const options &options, const frame_options &frames,
                                                                    error *why = nullptr) noexcept {
    const annulus_shared_options of = detail::of<T>(options);
    const annulus_frame_options made = {sizeof made, frames.frame_bytes, frames.alignment, frames.held, frames.lossless};
    return annulus::detail::made_both<publisher<T>, invitation>([&](annulus_frame_publisher **to, annulus_invitation **invites) {
        return annulus_shared_frames_new(&of, &made, to, invites, why);
    });
}

// Joins it: this process reads, from the next frame on, or from the oldest. With `awaited`, the publisher of a lossless ring waits for it.
template <class T>
[[nodiscard]] result<subscriber<T>> subscribes(const invitation &by, const options &options = {}, bool from_oldest = false,
                                               bool awaited = true, error *why = nullptr) noexcept {
    const annulus_shared_options of = detail::of<T>(options);
    return annulus::detail::made<subscriber<T>>([&](annulus_frame_subscriber **to) {
        return annulus_invitation_frames(by.get(), &of, from_oldest, awaited, to, why);
    });
}

} // namespace shm::frames

} // namespace annulus

#endif // ANNULUS_FRAMES_HPP
