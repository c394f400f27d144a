/* The hot path of annulus without a call: SPSC queues and lossy broadcast rings, over what the library lends.
 *
 * For C11 and C++20, by gcc and clang. A *view* (annulus.h) is filled by the library from a handle, and used by
 * the functions here. They take the steps of the Rust library's own plain paths, with the same orderings; each has
 * the label that docs/ORDERING.md gives it. Where there is more to do (the ring is full or empty, somebody
 * sleeps, it was closed, messages were lost), they call the library.
 *
 *     annulus_spsc_producer out;
 *     annulus_spsc_producer_open(&out, producer);
 *     while (annulus_spsc_send(&out, &order, sizeof order) == ANNULUS_OK) { ... }
 *     annulus_spsc_producer_end(&out);
 *     annulus_producer_free(producer);
 *
 * Keep a view in a local variable of the function that has the loop, and hand its address to the functions here only:
 * then the compiler has its numbers in registers. One thread at a time uses a view, which may move to another thread. Until it is ended, the handle's
 * own functions that send or receive, and that free it, return ANNULUS_VIEWED, and do nothing.
 */
#ifndef ANNULUS_INLINE_H
#define ANNULUS_INLINE_H

#include <annulus.h>
#include <string.h>

#if !defined(__GNUC__)
#error "annulus_inline.h needs the atomics of gcc or clang"
#endif

#ifdef __cplusplus
#define ANNULUS_ASSERT_(holds, what) static_assert(holds, what)
#define ANNULUS_CAST_(to, what) static_cast<to>(what)
#define ANNULUS_POINTER_(to, what) reinterpret_cast<to>(what)
#define ANNULUS_NULL_ nullptr
extern "C" {
#else
#define ANNULUS_ASSERT_(holds, what) _Static_assert(holds, what)
#define ANNULUS_CAST_(to, what) ((to)(what))
#define ANNULUS_POINTER_(to, what) ((to)(what))
#define ANNULUS_NULL_ NULL
#endif

/* A number of 64 bits as a size. */
#if UINTPTR_MAX == UINT64_MAX
#define ANNULUS_SIZE_(number) (number)
#else
#define ANNULUS_SIZE_(number) ANNULUS_CAST_(size_t, number)
#endif

/* The layout of the views: the library asserts the same (src/spsc_view.rs, src/lossy_view.rs). */
#if UINTPTR_MAX == UINT64_MAX
ANNULUS_ASSERT_(offsetof(annulus_spsc_producer, own) == 24 && sizeof(annulus_spsc_producer) == 72, "layout");
ANNULUS_ASSERT_(offsetof(annulus_spsc_producer, producer) == 64, "layout");
ANNULUS_ASSERT_(offsetof(annulus_spsc_consumer, own) == 24 && sizeof(annulus_spsc_consumer) == 88, "layout");
ANNULUS_ASSERT_(offsetof(annulus_spsc_consumer, consumer) == 80, "layout");
ANNULUS_ASSERT_(offsetof(annulus_lossy_publisher, slot) == 8 && sizeof(annulus_lossy_publisher) == 88, "layout");
ANNULUS_ASSERT_(offsetof(annulus_lossy_publisher, publisher) == 80, "layout");
ANNULUS_ASSERT_(offsetof(annulus_lossy_subscriber, slot) == 8 && sizeof(annulus_lossy_subscriber) == 72, "layout");
ANNULUS_ASSERT_(offsetof(annulus_lossy_subscriber, subscriber) == 64, "layout");
#endif

#ifdef __cplusplus
#define ANNULUS_INLINE_ inline __attribute__((always_inline))
#else
#define ANNULUS_INLINE_ static inline __attribute__((always_inline, unused))
#endif
#define ANNULUS_UNLIKELY_(what) __builtin_expect(!!(what), 0)

/* The light fence of event.wake2 and end.send4: for the compiler. A thread that sleeps or closes makes every core execute
 * a barrier, or has set a bit by which the library executes a full one. */
#define ANNULUS_LIGHT_FENCE_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* ThreadSanitizer knows no fences, nor what the library does. In a lossy ring the address of the first slot stands
 * for the order of its messages, here and in the library; in a queue the words of both sides do, which are stored and
 * loaded here with an order that it knows. */
#if defined(__SANITIZE_THREAD__)
#define ANNULUS_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ANNULUS_TSAN_ 1
#endif
#endif
#ifdef ANNULUS_TSAN_
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define ANNULUS_TSAN_ACQUIRE_(address) __tsan_acquire(ANNULUS_POINTER_(void *, ANNULUS_POINTER_(uintptr_t, address)))
#define ANNULUS_TSAN_RELEASE_(address) __tsan_release(ANNULUS_POINTER_(void *, ANNULUS_POINTER_(uintptr_t, address)))
#if !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan" /* The fences, of which it says that it knows none. */
#define ANNULUS_TSAN_POP_ 1
#endif
#else
#define ANNULUS_TSAN_ACQUIRE_(address) ((void)(address))
#define ANNULUS_TSAN_RELEASE_(address) ((void)(address))
#endif

/* Outlined, and by values, so that a view need not have an address where it is used. */
#define ANNULUS_OUTLINED_(of, view, call, status)                                           \
    do {                                                                                    \
        of outlined_ = of##_hidden_(*(view));                                               \
        (status) = call;                                                                    \
        *(view) = outlined_;                                                                \
    } while (0)

/* What the compiler does not know to be the view that it came from. Otherwise gcc keeps two numbers in one vector
 * register, so that it can store both at once for the call that is never made, and takes them apart for each message. */
#define ANNULUS_HIDE_(number) __asm__("" : "+r"(number))

ANNULUS_INLINE_ annulus_spsc_producer annulus_spsc_producer_hidden_(annulus_spsc_producer view) {
    ANNULUS_HIDE_(view.tail);
    ANNULUS_HIDE_(view.stop);
    ANNULUS_HIDE_(view.origin);
    ANNULUS_HIDE_(view.own);
    ANNULUS_HIDE_(view.wakes);
    ANNULUS_HIDE_(view.closes);
    ANNULUS_HIDE_(view.stride);
    ANNULUS_HIDE_(view.message_size);
    ANNULUS_HIDE_(view.producer);
    return view;
}

ANNULUS_INLINE_ annulus_spsc_consumer annulus_spsc_consumer_hidden_(annulus_spsc_consumer view) {
    ANNULUS_HIDE_(view.head);
    ANNULUS_HIDE_(view.stop);
    ANNULUS_HIDE_(view.origin);
    ANNULUS_HIDE_(view.own);
    ANNULUS_HIDE_(view.other);
    ANNULUS_HIDE_(view.wakes);
    ANNULUS_HIDE_(view.closes);
    ANNULUS_HIDE_(view.stride);
    ANNULUS_HIDE_(view.message_size);
    ANNULUS_HIDE_(view.lap_end);
    ANNULUS_HIDE_(view.consumer);
    return view;
}

ANNULUS_INLINE_ annulus_lossy_publisher annulus_lossy_publisher_hidden_(annulus_lossy_publisher view) {
    ANNULUS_HIDE_(view.next);
    ANNULUS_HIDE_(view.slot);
    ANNULUS_HIDE_(view.begin);
    ANNULUS_HIDE_(view.stop);
    ANNULUS_HIDE_(view.slow_mask);
    ANNULUS_HIDE_(view.bound);
    ANNULUS_HIDE_(view.wakes);
    ANNULUS_HIDE_(view.stride);
    ANNULUS_HIDE_(view.payload_at);
    ANNULUS_HIDE_(view.message_size);
    ANNULUS_HIDE_(view.publisher);
    return view;
}

ANNULUS_INLINE_ annulus_lossy_subscriber annulus_lossy_subscriber_hidden_(annulus_lossy_subscriber view) {
    ANNULUS_HIDE_(view.next);
    ANNULUS_HIDE_(view.slot);
    ANNULUS_HIDE_(view.begin);
    ANNULUS_HIDE_(view.stop);
    ANNULUS_HIDE_(view.over);
    ANNULUS_HIDE_(view.stride);
    ANNULUS_HIDE_(view.payload_at);
    ANNULUS_HIDE_(view.message_size);
    ANNULUS_HIDE_(view.subscriber);
    return view;
}

/* ---------------------------------------------------------------- SPSC: the producer -- */

/* Makes a view of the producer of an ANNULUS_SPSC queue: annulus_producer_view. */
ANNULUS_INLINE_ annulus_status annulus_spsc_producer_open(annulus_spsc_producer *view, annulus_producer *producer) {
    annulus_status status;
    annulus_spsc_producer opened_;
    status = annulus_producer_view(producer, ANNULUS_VIEW_VERSION, &opened_);
    *view = opened_;
    return status;
}

/* Ends a view: annulus_producer_view_end. */
ANNULUS_INLINE_ annulus_status annulus_spsc_producer_end(annulus_spsc_producer *view) {
    annulus_status status;
    ANNULUS_OUTLINED_(annulus_spsc_producer, view, annulus_producer_view_end(&outlined_), status);
    return status;
}

ANNULUS_INLINE_ unsigned char *annulus_spsc_at_(size_t origin, uint64_t number) {
    return ANNULUS_POINTER_(unsigned char *, origin + ANNULUS_SIZE_(number) * 8);
}

ANNULUS_INLINE_ size_t annulus_spsc_messages_(uint64_t words, size_t stride) {
    return stride == 1 ? ANNULUS_SIZE_(words) : ANNULUS_SIZE_(words) / stride;
}

/* Whether the queue is closed, so that nothing may be sent. What was done before the close then comes before what
 * follows: that is for the library to say. */
ANNULUS_INLINE_ bool annulus_spsc_is_refused_(const annulus_spsc_producer *view) {
    return ANNULUS_UNLIKELY_(__atomic_load_n(view->closes, __ATOMIC_RELAXED) & ANNULUS_CLOSES)
           && annulus_producer_is_closed(view->producer);
}

/* Makes sure that a slot is free, or says why not. */
ANNULUS_INLINE_ annulus_status annulus_spsc_room_(annulus_spsc_producer *view, uint64_t timeout_ns) {
    annulus_status status = ANNULUS_OK;
    if (ANNULUS_UNLIKELY_(view->tail == view->stop)) {
        ANNULUS_OUTLINED_(annulus_spsc_producer, view, annulus_producer_view_look(&outlined_, timeout_ns), status); /* lane.send1 */
    } else if (annulus_spsc_is_refused_(view)) {
        status = ANNULUS_CLOSED;
    }
    return status;
}

/* lane.send3 and lane.send4 of so many words, which are written and in the run. */
ANNULUS_INLINE_ annulus_status annulus_spsc_publish_(annulus_spsc_producer *view, size_t words) {
    annulus_status status = ANNULUS_OK;
    const uint32_t *wakes = view->wakes;
    view->tail += words;
    __atomic_store_n(view->own, view->tail, __ATOMIC_RELEASE); /* lane.send3 */
    ANNULUS_LIGHT_FENCE_();                                    /* event.wake2 */
    if (ANNULUS_UNLIKELY_(__atomic_load_n(wakes, __ATOMIC_RELAXED) & (ANNULUS_WAKES | ANNULUS_CLOSES))) { /* event.wake3 */
        ANNULUS_OUTLINED_(annulus_spsc_producer, view, annulus_producer_view_settle(&outlined_, words), status); /* lane.send4 */
    }
    return status;
}

/* Reserves up to `most` messages in the ring, to be written there, as annulus_producer_reserve: `*slots` is the
 * first one, each lies `8 * view->stride` bytes behind the one before, and `*count` is how many there are, at least
 * 1. It waits for the first one for `timeout_ns` nanoseconds at most: with 0 not at all, ANNULUS_FOREVER is no
 * limit. The slots are the caller's until it commits, or reserves or sends again: what was not committed then is
 * reserved anew.
 *
 * Returns ANNULUS_FULL (with 0), ANNULUS_TIMEOUT, ANNULUS_CLOSED, ANNULUS_INVALID (also if `most` is 0, or the view
 * was ended). Then `*slots` is null, and `*count` is 0. */
ANNULUS_INLINE_ annulus_status annulus_spsc_reserve(annulus_spsc_producer *view, size_t most, uint64_t timeout_ns, void **slots, size_t *count) {
    annulus_status status;
    size_t words, reserved = most;
    *slots = ANNULUS_NULL_;
    *count = 0;
    if (ANNULUS_UNLIKELY_(most == 0)) {
        return ANNULUS_INVALID;
    }
    status = annulus_spsc_room_(view, timeout_ns);
    if (ANNULUS_UNLIKELY_(status != ANNULUS_OK)) {
        return status;
    }
    if (ANNULUS_UNLIKELY_(__builtin_mul_overflow(most, view->stride, &words) || words > view->stop - view->tail)) {
        /* There may be more by now. */
        ANNULUS_OUTLINED_(annulus_spsc_producer, view, annulus_producer_view_look(&outlined_, 0), status);
        if (ANNULUS_UNLIKELY_(status != ANNULUS_OK)) {
            return status;
        }
        reserved = annulus_spsc_messages_(view->stop - view->tail, view->stride);
        reserved = reserved < most ? reserved : most;
    }
    *slots = annulus_spsc_at_(view->origin, view->tail);
    *count = reserved;
    return ANNULUS_OK;
}

/* As annulus_spsc_reserve; never waits. */
ANNULUS_INLINE_ annulus_status annulus_spsc_try_reserve(annulus_spsc_producer *view, size_t most, void **slots, size_t *count) {
    return annulus_spsc_reserve(view, most, 0, slots, count);
}

/* Sends the first `count` messages that were reserved, all at once.
 *
 * Returns ANNULUS_CLOSED, and nothing is sent; ANNULUS_INVALID if there are fewer slots than that. */
ANNULUS_INLINE_ annulus_status annulus_spsc_commit(annulus_spsc_producer *view, size_t count) {
    size_t words;
    if (count == 0) {
        return ANNULUS_OK;
    }
    if (ANNULUS_UNLIKELY_(__builtin_mul_overflow(count, view->stride, &words) || words > view->stop - view->tail)) {
        return ANNULUS_INVALID;
    }
    if (annulus_spsc_is_refused_(view)) {
        return ANNULUS_CLOSED;
    }
    return annulus_spsc_publish_(view, words);
}

/* Sends a copy of the message at `message`, which has the size of the queue's messages. Waits for room for
 * `timeout_ns` nanoseconds at most: with 0 not at all, ANNULUS_FOREVER is no limit.
 *
 * Returns ANNULUS_FULL (with 0), ANNULUS_TIMEOUT, ANNULUS_CLOSED, ANNULUS_WRONG_SIZE, ANNULUS_INVALID (also if the
 * view was ended). Then nothing is sent. */
ANNULUS_INLINE_ annulus_status annulus_spsc_send_timeout(annulus_spsc_producer *view, const void *message, size_t size, uint64_t timeout_ns) {
    annulus_status status;
    if (ANNULUS_UNLIKELY_(size != view->message_size)) {
        return view->producer == ANNULUS_NULL_ ? ANNULUS_INVALID : ANNULUS_WRONG_SIZE;
    }
    status = annulus_spsc_room_(view, timeout_ns);
    if (ANNULUS_UNLIKELY_(status != ANNULUS_OK)) {
        return status;
    }
    memcpy(annulus_spsc_at_(view->origin, view->tail), message, size); /* lane.send2 */
    return annulus_spsc_publish_(view, (size + 7) / 8);
}

/* As annulus_spsc_send_timeout; never waits. */
ANNULUS_INLINE_ annulus_status annulus_spsc_try_send(annulus_spsc_producer *view, const void *message, size_t size) {
    return annulus_spsc_send_timeout(view, message, size, 0);
}

/* As annulus_spsc_send_timeout, without a limit. */
ANNULUS_INLINE_ annulus_status annulus_spsc_send(annulus_spsc_producer *view, const void *message, size_t size) {
    return annulus_spsc_send_timeout(view, message, size, ANNULUS_FOREVER);
}

/* Copies `count` messages that lie `from_stride` bytes apart to where they lie `to_stride` bytes apart. */
ANNULUS_INLINE_ void annulus_spsc_copy_(unsigned char *to, size_t to_stride, const unsigned char *from, size_t from_stride, size_t count, size_t size) {
    size_t index;
    if (to_stride == from_stride) {
        memcpy(to, from, count * size);
        return;
    }
    for (index = 0; index < count; index++) {
        memcpy(to + index * to_stride, from + index * from_stride, size);
    }
}

/* Sends copies of as many of the `count` messages at `messages` as there is room for, as
 * annulus_producer_try_send_batch: they lie as in an array, each `size` bytes behind the one before. Never waits.
 * `*sent` says how many were sent.
 *
 * Returns ANNULUS_OK if at least one was sent, else as annulus_spsc_try_send; ANNULUS_INVALID also if `count` is 0. */
ANNULUS_INLINE_ annulus_status annulus_spsc_try_send_batch(annulus_spsc_producer *view, const void *messages, size_t count, size_t size, size_t *sent) {
    annulus_status status = ANNULUS_INVALID;
    const unsigned char *rest = ANNULUS_CAST_(const unsigned char *, messages);
    size_t done = 0;
    *sent = 0;
    if (ANNULUS_UNLIKELY_(size != view->message_size)) {
        return view->producer == ANNULUS_NULL_ ? ANNULUS_INVALID : ANNULUS_WRONG_SIZE;
    }
    while (done < count) { /* Up to the end of the ring, and from its begin on. */
        void *slots;
        size_t room;
        status = annulus_spsc_try_reserve(view, count - done, &slots, &room);
        if (status != ANNULUS_OK) {
            break;
        }
        annulus_spsc_copy_(ANNULUS_CAST_(unsigned char *, slots), 8 * view->stride, rest + done * size, size, room, size); /* lane.send2 */
        status = annulus_spsc_commit(view, room);
        if (status != ANNULUS_OK) {
            break;
        }
        done += room;
    }
    *sent = done;
    return done > 0 ? ANNULUS_OK : status;
}

/* ---------------------------------------------------------------- SPSC: the consumer -- */

/* Makes a view of the consumer of an ANNULUS_SPSC queue: annulus_consumer_view. */
ANNULUS_INLINE_ annulus_status annulus_spsc_consumer_open(annulus_spsc_consumer *view, annulus_consumer *consumer) {
    annulus_status status;
    annulus_spsc_consumer opened_;
    status = annulus_consumer_view(consumer, ANNULUS_VIEW_VERSION, &opened_);
    *view = opened_;
    return status;
}

/* Ends a view: annulus_consumer_view_end. */
ANNULUS_INLINE_ annulus_status annulus_spsc_consumer_end(annulus_spsc_consumer *view) {
    annulus_status status;
    ANNULUS_OUTLINED_(annulus_spsc_consumer, view, annulus_consumer_view_end(&outlined_), status);
    return status;
}

/* Makes sure that a message is there, or says why not. */
ANNULUS_INLINE_ annulus_status annulus_spsc_some_(annulus_spsc_consumer *view, uint64_t timeout_ns) {
    annulus_status status = ANNULUS_OK;
    if (ANNULUS_UNLIKELY_(view->head == view->stop)) {
        const uint64_t there = __atomic_load_n(view->other, __ATOMIC_ACQUIRE) - view->head; /* lane.take5 */
        const uint64_t beside = view->lap_end - view->head;
        if (there != 0 && beside != 0) {
            view->stop = view->head + (there < beside ? there : beside);
            return ANNULUS_OK;
        }
        /* The tail came first: what was sent before the end is found before the end. */
        if (there == 0 && timeout_ns == 0 && !(__atomic_load_n(view->closes, __ATOMIC_RELAXED) & ANNULUS_CLOSES)) {
            return ANNULUS_EMPTY;
        }
        ANNULUS_OUTLINED_(annulus_spsc_consumer, view, annulus_consumer_view_look(&outlined_, timeout_ns), status); /* lane.take5 */
    }
    return status;
}

/* lane.take7 and lane.take8 of so many words, which are read. */
ANNULUS_INLINE_ void annulus_spsc_release_(annulus_spsc_consumer *view, size_t words) {
    const uint32_t *wakes = view->wakes;
    view->head += words;
    __atomic_store_n(view->own, view->head, __ATOMIC_RELEASE); /* lane.take7 */
    ANNULUS_LIGHT_FENCE_();                                    /* event.wake2 */
    if (ANNULUS_UNLIKELY_(__atomic_load_n(wakes, __ATOMIC_RELAXED) & ANNULUS_WAKES)) { /* event.wake3 */
        annulus_status status;
        ANNULUS_OUTLINED_(annulus_spsc_consumer, view, annulus_consumer_view_wake(&outlined_), status); /* lane.take8 */
        (void)status;
    }
}

/* Shows the next messages where they lie in the ring, as annulus_consumer_readable: `*messages` is the first one,
 * each lies `8 * view->stride` bytes behind the one before, and `*count` is how many lie beside each other, at least
 * 1. It waits for the first one for `timeout_ns` nanoseconds at most: with 0 not at all, ANNULUS_FOREVER is no limit.
 * They may be read until they are advanced over, or received.
 *
 * Returns ANNULUS_EMPTY (with 0), ANNULUS_TIMEOUT, ANNULUS_CLOSED (every message was received), ANNULUS_INVALID (the
 * view was ended). Then `*messages` is null, and `*count` is 0. */
ANNULUS_INLINE_ annulus_status annulus_spsc_readable(annulus_spsc_consumer *view, uint64_t timeout_ns, const void **messages, size_t *count) {
    annulus_status status = annulus_spsc_some_(view, timeout_ns);
    *messages = ANNULUS_NULL_;
    *count = 0;
    if (ANNULUS_UNLIKELY_(status != ANNULUS_OK)) {
        return status;
    }
    *messages = annulus_spsc_at_(view->origin, view->head);
    *count = annulus_spsc_messages_(view->stop - view->head, view->stride);
    return ANNULUS_OK;
}

/* Takes the first `count` of the messages that were shown out of the queue. Their slots go back at once.
 *
 * Returns ANNULUS_INVALID if fewer were shown; then nothing is taken. */
ANNULUS_INLINE_ annulus_status annulus_spsc_advance(annulus_spsc_consumer *view, size_t count) {
    size_t words;
    if (count == 0) {
        return ANNULUS_OK;
    }
    if (ANNULUS_UNLIKELY_(__builtin_mul_overflow(count, view->stride, &words) || words > view->stop - view->head)) {
        return ANNULUS_INVALID;
    }
    annulus_spsc_release_(view, words);
    return ANNULUS_OK;
}

/* Receives the next message to `message`, where there is room for the size of the queue's messages. Waits for it for
 * `timeout_ns` nanoseconds at most: with 0 not at all, ANNULUS_FOREVER is no limit.
 *
 * Returns ANNULUS_EMPTY (with 0), ANNULUS_TIMEOUT, ANNULUS_CLOSED (every message was received), ANNULUS_WRONG_SIZE,
 * ANNULUS_INVALID (the view was ended). Then `message` is as it was. */
ANNULUS_INLINE_ annulus_status annulus_spsc_recv_timeout(annulus_spsc_consumer *view, void *message, size_t size, uint64_t timeout_ns) {
    annulus_status status;
    if (ANNULUS_UNLIKELY_(size != view->message_size)) {
        return view->consumer == ANNULUS_NULL_ ? ANNULUS_INVALID : ANNULUS_WRONG_SIZE;
    }
    status = annulus_spsc_some_(view, timeout_ns);
    if (ANNULUS_UNLIKELY_(status != ANNULUS_OK)) {
        return status;
    }
    memcpy(message, annulus_spsc_at_(view->origin, view->head), size); /* lane.take6 */
    annulus_spsc_release_(view, (size + 7) / 8);
    return ANNULUS_OK;
}

/* As annulus_spsc_recv_timeout; never waits. */
ANNULUS_INLINE_ annulus_status annulus_spsc_try_recv(annulus_spsc_consumer *view, void *message, size_t size) {
    return annulus_spsc_recv_timeout(view, message, size, 0);
}

/* As annulus_spsc_recv_timeout, without a limit. */
ANNULUS_INLINE_ annulus_status annulus_spsc_recv(annulus_spsc_consumer *view, void *message, size_t size) {
    return annulus_spsc_recv_timeout(view, message, size, ANNULUS_FOREVER);
}

/* Receives up to `count` messages to `messages`, as annulus_consumer_try_recv_batch: they lie there as in an array,
 * each `size` bytes behind the one before. Never waits. `*received` says how many they are.
 *
 * Returns ANNULUS_OK if at least one was received, else as annulus_spsc_try_recv; ANNULUS_INVALID also if `count` is
 * 0. */
ANNULUS_INLINE_ annulus_status annulus_spsc_try_recv_batch(annulus_spsc_consumer *view, void *messages, size_t count, size_t size, size_t *received) {
    annulus_status status = ANNULUS_INVALID;
    unsigned char *rest = ANNULUS_CAST_(unsigned char *, messages);
    size_t done = 0;
    *received = 0;
    if (ANNULUS_UNLIKELY_(size != view->message_size)) {
        return view->consumer == ANNULUS_NULL_ ? ANNULUS_INVALID : ANNULUS_WRONG_SIZE;
    }
    while (done < count) { /* Up to the end of the ring, and from its begin on. */
        const void *there;
        size_t shown;
        status = annulus_spsc_readable(view, 0, &there, &shown);
        if (status != ANNULUS_OK) {
            break;
        }
        shown = shown < count - done ? shown : count - done;
        annulus_spsc_copy_(rest + done * size, size, ANNULUS_CAST_(const unsigned char *, there), 8 * view->stride, shown, size); /* lane.take6 */
        annulus_spsc_release_(view, shown * view->stride);
        done += shown;
    }
    *received = done;
    return done > 0 ? ANNULUS_OK : status;
}

/* ---------------------------------------------------------------- lossy: the publisher -- */

/* Makes a view of the publisher of an ANNULUS_LOSSY ring: annulus_publisher_view. */
ANNULUS_INLINE_ annulus_status annulus_lossy_publisher_open(annulus_lossy_publisher *view, annulus_publisher *publisher) {
    annulus_status status;
    annulus_lossy_publisher opened_;
    status = annulus_publisher_view(publisher, ANNULUS_VIEW_VERSION, &opened_);
    *view = opened_;
    return status;
}

/* Ends a view: annulus_publisher_view_end. */
ANNULUS_INLINE_ annulus_status annulus_lossy_publisher_end(annulus_lossy_publisher *view) {
    annulus_status status;
    ANNULUS_OUTLINED_(annulus_lossy_publisher, view, annulus_publisher_view_end(&outlined_), status);
    return status;
}

/* A message into relaxed words, and back. */
ANNULUS_INLINE_ void annulus_lossy_store_(uint64_t *words, const unsigned char *message, size_t size) {
    size_t index;
    uint64_t word;
    for (index = 0; index < size / 8; index++) {
        memcpy(&word, message + 8 * index, 8);
        __atomic_store_n(words + index, word, __ATOMIC_RELAXED); /* slot.w3 */
    }
    if (size % 8 != 0) {
        word = 0;
        memcpy(&word, message + 8 * index, size % 8);
        __atomic_store_n(words + index, word, __ATOMIC_RELAXED); /* slot.w3 */
    }
}

ANNULUS_INLINE_ void annulus_lossy_load_(unsigned char *message, const uint64_t *words, size_t size) {
    size_t index;
    uint64_t word;
    for (index = 0; index < size / 8; index++) {
        word = __atomic_load_n(words + index, __ATOMIC_RELAXED); /* slot.r2 */
        memcpy(message + 8 * index, &word, 8);
    }
    if (size % 8 != 0) {
        word = __atomic_load_n(words + index, __ATOMIC_RELAXED); /* slot.r2 */
        memcpy(message + 8 * index, &word, size % 8);
    }
}

/* Publishes a copy of the message at `message`, which has the size of the ring's messages. Waits for nobody.
 *
 * Returns ANNULUS_CLOSED, ANNULUS_WRONG_SIZE, ANNULUS_INVALID (also if the view was ended). Then nothing is
 * published. */
ANNULUS_INLINE_ annulus_status annulus_lossy_publish(annulus_lossy_publisher *view, const void *message, size_t size) {
    annulus_status status = ANNULUS_OK;
    uint64_t *slot = view->slot;
    const uint32_t *wakes = view->wakes;
    const uint64_t next = view->next;
    uint64_t mask;
    if (ANNULUS_UNLIKELY_(size != view->message_size)) {
        return view->payload_at == 0 ? ANNULUS_INVALID : ANNULUS_WRONG_SIZE;
    }
    if (size > ANNULUS_INLINE_MAX && view->payload_at != 1) {
        ANNULUS_OUTLINED_(annulus_lossy_publisher, view, annulus_publisher_view_publish(&outlined_, message, size), status);
        return status;
    }
    __atomic_store_n(slot, 2 * next + 1, __ATOMIC_RELAXED); /* slot.w1 */
    __atomic_thread_fence(__ATOMIC_RELEASE);                /* slot.w2 */
    annulus_lossy_store_(slot + 1, ANNULUS_CAST_(const unsigned char *, message), size);
    ANNULUS_LIGHT_FENCE_();                                      /* end.send4 */
    mask = __atomic_load_n(view->slow_mask, __ATOMIC_RELAXED);   /* end.send4 */
    if (ANNULUS_UNLIKELY_((next & mask) == 0)) {
        if (ANNULUS_UNLIKELY_(mask == 0)) {
            ANNULUS_OUTLINED_(annulus_lossy_publisher, view, annulus_publisher_view_settle(&outlined_), status); /* end.send5 */
            return status;
        }
        __atomic_store_n(view->bound, next, __ATOMIC_RELEASE); /* head.pass1 */
    }
    ANNULUS_TSAN_RELEASE_(view->begin);
    __atomic_store_n(slot, 2 * next + 2, __ATOMIC_RELEASE); /* slot.w4 */
    view->next = next + 1;
    slot += view->stride;
    view->slot = ANNULUS_UNLIKELY_(slot == view->stop) ? view->begin : slot;
    ANNULUS_LIGHT_FENCE_();                                                            /* event.wake2 */
    if (ANNULUS_UNLIKELY_(__atomic_load_n(wakes, __ATOMIC_RELAXED) & ANNULUS_WAKES)) { /* event.wake3 */
        ANNULUS_OUTLINED_(annulus_lossy_publisher, view, annulus_publisher_view_wake(&outlined_), status);     /* event.wake4 */
    }
    return status;
}

/* ---------------------------------------------------------------- lossy: a subscriber -- */

/* Makes a view of a subscriber of an ANNULUS_LOSSY ring: annulus_subscriber_view. */
ANNULUS_INLINE_ annulus_status annulus_lossy_subscriber_open(annulus_lossy_subscriber *view, annulus_subscriber *subscriber) {
    annulus_status status;
    annulus_lossy_subscriber opened_;
    status = annulus_subscriber_view(subscriber, ANNULUS_VIEW_VERSION, &opened_);
    *view = opened_;
    return status;
}

/* Ends a view: annulus_subscriber_view_end. */
ANNULUS_INLINE_ annulus_status annulus_lossy_subscriber_end(annulus_lossy_subscriber *view) {
    annulus_status status;
    ANNULUS_OUTLINED_(annulus_lossy_subscriber, view, annulus_subscriber_view_end(&outlined_), status);
    return status;
}

/* By the library; a small message by way of a copy, so that the caller's need not have an address. */
ANNULUS_INLINE_ annulus_status annulus_lossy_recv_by_library_(annulus_lossy_subscriber *view, void *message, size_t size, uint64_t timeout_ns) {
    annulus_status status;
    if (size <= ANNULUS_INLINE_MAX) {
        unsigned char copy[ANNULUS_INLINE_MAX];
        ANNULUS_OUTLINED_(annulus_lossy_subscriber, view, annulus_subscriber_view_recv(&outlined_, copy, size, timeout_ns), status);
        if (status == ANNULUS_OK) {
            memcpy(message, copy, size);
        }
        return status;
    }
    ANNULUS_OUTLINED_(annulus_lossy_subscriber, view, annulus_subscriber_view_recv(&outlined_, message, size, timeout_ns), status);
    return status;
}

/* Receives the next message to `message`, where there is room for the size of the ring's messages. Waits for it for
 * `timeout_ns` nanoseconds at most: with 0 not at all, ANNULUS_FOREVER is no limit. After a lag it goes on with a
 * message that is there; annulus_subscriber_lagged says how many were lost.
 *
 * Returns ANNULUS_EMPTY (with 0), ANNULUS_TIMEOUT, ANNULUS_CLOSED (nothing is left), ANNULUS_WRONG_SIZE,
 * ANNULUS_INVALID (also if the view was ended). With any but ANNULUS_OK, `message` may have been written to, with the
 * words of a message that was overwritten meanwhile. */
ANNULUS_INLINE_ annulus_status annulus_lossy_recv_timeout(annulus_lossy_subscriber *view, void *message, size_t size, uint64_t timeout_ns) {
    const uint64_t *slot = view->slot;
    const uint64_t next = view->next, wanted = 2 * next + 2;
    if (ANNULUS_UNLIKELY_(size != view->message_size)) {
        return view->payload_at == 0 ? ANNULUS_INVALID : ANNULUS_WRONG_SIZE;
    }
    if (size <= ANNULUS_INLINE_MAX || view->payload_at == 1) {
        const uint64_t seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE); /* slot.r1 */
        if (__builtin_expect(seen == wanted, 1)) {
            annulus_lossy_load_(ANNULUS_CAST_(unsigned char *, message), slot + 1, size);
            __atomic_thread_fence(__ATOMIC_ACQUIRE);                      /* slot.r3 */
            if (__builtin_expect(__atomic_load_n(slot, __ATOMIC_RELAXED) == wanted, 1)) { /* slot.r4 */
                ANNULUS_TSAN_ACQUIRE_(view->begin);
                view->next = next + 1;
                slot += view->stride;
                view->slot = ANNULUS_UNLIKELY_(slot == view->stop) ? view->begin : slot;
                return ANNULUS_OK;
            }
        } else if (seen < wanted && timeout_ns == 0 && !__atomic_load_n(view->over, __ATOMIC_RELAXED)) {
            return ANNULUS_EMPTY;
        }
    }
    return annulus_lossy_recv_by_library_(view, message, size, timeout_ns);
}

/* As annulus_lossy_recv_timeout; never waits. */
ANNULUS_INLINE_ annulus_status annulus_lossy_try_recv(annulus_lossy_subscriber *view, void *message, size_t size) {
    return annulus_lossy_recv_timeout(view, message, size, 0);
}

/* As annulus_lossy_recv_timeout, without a limit. */
ANNULUS_INLINE_ annulus_status annulus_lossy_recv(annulus_lossy_subscriber *view, void *message, size_t size) {
    return annulus_lossy_recv_timeout(view, message, size, ANNULUS_FOREVER);
}

#ifdef ANNULUS_TSAN_POP_
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* ANNULUS_INLINE_H */
