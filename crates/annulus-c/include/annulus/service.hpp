// Services between processes: questions of several clients to a server, and answers in any order. (Linux.)
//
//     auto made = annulus::shm::services::serves<question, answer>({.capacity = 16, .places = 8});
//     auto &[server, invitation] = *made;
//     auto client = annulus::shm::services::joins<question, answer>(invitation);   // usually another process
//
//     auto pending = client->ask({7});
//     auto request = server.recv();                                                // dropped, it is refused
//     request->answer({request->question().symbol, 1.5});
//     auto price = pending->recv();                                                // ANNULUS_REFUSED, ANNULUS_PEER_DIED, …
#ifndef ANNULUS_SERVICE_HPP
#define ANNULUS_SERVICE_HPP

#include <annulus/shm.hpp>

namespace annulus {

template <> struct detail::functions<annulus_server> {
    static constexpr auto free = annulus_server_free;
};

template <> struct detail::functions<annulus_request> {
    static constexpr auto free = annulus_request_free;
};

template <> struct detail::functions<annulus_client> {
    static constexpr auto free = annulus_client_free;
};

template <> struct detail::functions<annulus_pending_answer> {
    static constexpr auto free = annulus_pending_answer_free;
};

namespace shm::services {

namespace detail {

inline std::uint64_t ns(timeout time) noexcept { return time == forever ? ANNULUS_FOREVER : annulus::detail::ns(time); }

} // namespace detail

// A question Q that is to be answered by an A, once. The end of this refuses it. It may move to another thread.
template <class Q, class A> class request : public annulus::detail::owned<annulus_request> {
  public:
    request() = default;
    request(annulus_request *handle, const Q &question) noexcept : owned(handle), question_(question) {}
    ANNULUS_MOVES_(request);

    [[nodiscard]] const Q &question() const noexcept { return question_; }
    // Answers it, which ends the request. Never waits. ANNULUS_CLOSED: the client is gone.
    status answer(const A &answer) && noexcept {
        const status code = annulus_request_answer(get(), &answer, sizeof answer);
        if (code == ANNULUS_OK || code == ANNULUS_CLOSED) static_cast<void>(release());
        return code;
    }
    // Whether the client can still receive an answer, as the kernel says.
    [[nodiscard]] bool is_client_there() const noexcept { return annulus_request_client_is_there(get()); }

  private:
    Q question_{};
};

// Receives questions.
template <class Q, class A> class server : public annulus::detail::owned<annulus_server> {
    static_assert(is_message<Q> && is_message<A>, "questions and answers go as their bytes, so they have to be trivially copyable");

  public:
    using owned::owned;
    ANNULUS_MOVES_(server);

    // The next question. Waits for it.
    [[nodiscard]] result<request<Q, A>> recv(timeout time = forever) noexcept {
        annulus_request *handle = nullptr;
        Q question;
        const status code = annulus_server_recv(get(), &question, sizeof question, detail::ns(time), &handle);
        if (code != ANNULUS_OK) return code;
        return request<Q, A>(handle, question);
    }
    [[nodiscard]] result<request<Q, A>> try_recv() noexcept { return recv(timeout::zero()); }
    // How many clients are there.
    [[nodiscard]] std::size_t clients() const noexcept { return annulus_server_clients(get()); }
    // Clients can ask no more; what they had asked is received.
    status close() noexcept { return annulus_server_close(get()); }
    // For poll and epoll, with `arm` before each wait, which says whether something is there already.
    [[nodiscard]] result<int> fd() noexcept {
        return annulus::detail::asked<int>([&](int *to) { return annulus_server_fd(get(), to); });
    }
    [[nodiscard]] result<bool> arm() noexcept {
        return annulus::detail::asked<bool>([&](bool *to) { return annulus_server_arm(get(), to); });
    }
};

// The answer to a question, which is to come. The end of this gives it up.
template <class A> class pending_answer : public annulus::detail::owned<annulus_pending_answer> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(pending_answer);

    // The answer. Waits for it. It comes once.
    [[nodiscard]] result<A> recv(timeout time = forever) noexcept {
        A answer;
        const status code = annulus_pending_answer_recv(get(), &answer, sizeof answer, detail::ns(time));
        if (code != ANNULUS_OK) return code;
        return answer;
    }
    [[nodiscard]] result<A> try_recv() noexcept { return recv(timeout::zero()); }
    // As of a server.
    [[nodiscard]] result<int> fd() noexcept {
        return annulus::detail::asked<int>([&](int *to) { return annulus_pending_answer_fd(get(), to); });
    }
    [[nodiscard]] result<bool> arm() noexcept {
        return annulus::detail::asked<bool>([&](bool *to) { return annulus_pending_answer_arm(get(), to); });
    }
};

// Asks.
template <class Q, class A> class client : public annulus::detail::owned<annulus_client> {
  public:
    using owned::owned;
    ANNULUS_MOVES_(client);

    // Asks. Never waits. ANNULUS_FULL: as many questions are open as may be.
    [[nodiscard]] result<pending_answer<A>> ask(const Q &question) noexcept {
        return annulus::detail::made<pending_answer<A>>(
            [&](annulus_pending_answer **to) { return annulus_client_ask(get(), &question, sizeof question, to); });
    }
    // How many questions are open.
    [[nodiscard]] std::size_t open() const noexcept { return annulus_client_open(get()); }
    // Whether the server's process is there.
    [[nodiscard]] result<annulus_peer> peer() const noexcept {
        return annulus::detail::asked<annulus_peer>([&](annulus_peer *to) { return annulus_client_peer(get(), to); });
    }
};

// Makes the service: this process answers. The capacity is how many questions each client may have open, `places` how many clients there
// can be.
template <class Q, class A>
[[nodiscard]] result<std::pair<server<Q, A>, invitation>> serves(const options &options, error *why = nullptr) noexcept {
    const annulus_shared_options questions = options.of<Q>(), answers = shm::options{}.of<A>();
    return annulus::detail::made_both<server<Q, A>, invitation>([&](annulus_server **to, annulus_invitation **invites) {
        return annulus_shared_service_new(&questions, &answers, to, invites, why);
    });
}

// Joins it: this process asks.
template <class Q, class A>
[[nodiscard]] result<client<Q, A>> joins(const invitation &by, const options &options = {}, error *why = nullptr) noexcept {
    const annulus_shared_options questions = options.of<Q>(), answers = shm::options{}.of<A>();
    return annulus::detail::made<client<Q, A>>(
        [&](annulus_client **to) { return annulus_invitation_client(by.get(), &questions, &answers, to, why); });
}

} // namespace shm::services

} // namespace annulus

#endif // ANNULUS_SERVICE_HPP
