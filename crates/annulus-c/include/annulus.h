/* The C interface of annulus: rings and queues between threads. Written by a test of crates/annulus-c
   from the functions; see the README there. */

#ifndef ANNULUS_H
#define ANNULUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The version of the interface that this header describes. It grows when a program that was compiled with
 * an older header would no longer work.
 */
#define ANNULUS_ABI_VERSION 1

/**
 * Polls, then sleeps until it is woken: ANNULUS_WAIT_BLOCK.
 */
#define ANNULUS_WAIT_DEFAULT 0

/**
 * Polls without a pause. For threads that have a core of their own.
 */
#define ANNULUS_WAIT_BUSY_SPIN 1

/**
 * Polls with the processor's pause instruction between polls. Never gives up the core.
 */
#define ANNULUS_WAIT_YIELD_SPIN 2

/**
 * The processor waits until the word changes, where it can; else as ANNULUS_WAIT_YIELD_SPIN.
 */
#define ANNULUS_WAIT_MONITOR 3

/**
 * Polls with pauses that become longer.
 */
#define ANNULUS_WAIT_BACKOFF_SPIN 4

/**
 * Polls, and then gives up its time slice between polls.
 */
#define ANNULUS_WAIT_ADAPTIVE 5

/**
 * Polls, and then sleeps until it is woken.
 */
#define ANNULUS_WAIT_BLOCK 6

/**
 * A bit of flags: the ring counts what annulus_stats says of waits.
 */
#define ANNULUS_STATISTICS 1

/**
 * No timeout: it waits for as long as it takes.
 */
#define ANNULUS_FOREVER UINT64_MAX

/**
 * A queue of one producer and one consumer. Both can use messages where they lie in the ring.
 */
#define ANNULUS_SPSC 1

/**
 * A queue of many producers and one consumer. Each producer has a ring of its own, of the capacity that was
 * asked for, and its messages arrive in the order in which they were sent. Both sides can use messages where
 * they lie in the ring.
 */
#define ANNULUS_MPSC 2

/**
 * A queue of one producer and many consumers.
 */
#define ANNULUS_SPMC 3

/**
 * A queue of many producers, each with a ring of its own, and many consumers.
 */
#define ANNULUS_MPMC 4

/**
 * A queue of many producers and many consumers with one ring for all, one order, and one capacity.
 */
#define ANNULUS_ORDERED 5

/**
 * The size of the largest class, in bytes.
 */
#define ANNULUS_MESSAGE_MAX 4096

/**
 * What a function returns. Only ANNULUS_OK means that it did what it was asked for; with every other one
 * nothing was sent, received, made or freed.
 */
enum annulus_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    ANNULUS_OK = 0,
    /**
     * No message is there now. Of a pool: no buffer is free now.
     */
    ANNULUS_EMPTY = 1,
    /**
     * The ring has no room now.
     */
    ANNULUS_FULL = 2,
    /**
     * No message, or no room, came in time.
     */
    ANNULUS_TIMEOUT = 3,
    /**
     * For whoever sends: nobody is left to receive, or somebody closed the ring. For whoever receives: the
     * same, and every message was received. It stays so.
     */
    ANNULUS_CLOSED = 4,
    /**
     * An argument can't be: a null pointer, a number that is no kind of ring or of waiting, a capacity of 0,
     * more messages committed than reserved, or advanced than readable.
     */
    ANNULUS_INVALID = 5,
    /**
     * The size of the message is not that of the ring; or such a ring takes no messages of that size.
     */
    ANNULUS_WRONG_SIZE = 6,
    /**
     * The pointer is no handle of that type: it was freed, or it is a handle of another type.
     */
    ANNULUS_NOT_A_HANDLE = 7,
    /**
     * Handles of this kind of ring can't do that, or this system can't.
     */
    ANNULUS_UNSUPPORTED = 8,
    /**
     * There is no memory for it.
     */
    ANNULUS_NO_MEMORY = 9,
    /**
     * The producer has a reservation: commit it first (0 messages, if need be).
     */
    ANNULUS_RESERVED = 10,
    /**
     * The system refused it, for example because the process has too many descriptors.
     */
    ANNULUS_SYSTEM = 11,
    /**
     * A fault in the library: it panicked, and wrote why to the standard error output. The handle may be
     * freed; nothing else is promised of it.
     */
    ANNULUS_PANICKED = 12,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum annulus_status annulus_status;
#else
typedef int32_t annulus_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What closes a ring from any thread, at any time. It does not keep the ring, nor its memory.
 */
typedef struct annulus_closer annulus_closer;

/**
 * The receiving end of a queue. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_consumer annulus_consumer;

/**
 * The sending end of a queue. One thread at a time uses it; it may move to another thread.
 */
typedef struct annulus_producer annulus_producer;

/**
 * How a thread waits: its kind is one of the ANNULUS_WAIT_…. All zero is the default: it polls a little,
 * and then sleeps until it is woken.
 */
typedef struct annulus_wait {
    /**
     * One of the ANNULUS_WAIT_….
     */
    uint32_t kind;
    /**
     * Of ANNULUS_WAIT_ADAPTIVE and ANNULUS_WAIT_BLOCK: so many polls without a pause. Where this and
     * yield_polls are 0, they are those of the default.
     */
    uint32_t spin_polls;
    /**
     * Of these two: so many polls then with a pause, before it gives up the time slice, or sleeps.
     */
    uint32_t yield_polls;
} annulus_wait;

/**
 * What a ring is made of: annulus_options options = ANNULUS_OPTIONS(1024, sizeof(struct order));, and then
 * what is to be other than the default. What is not set has to be 0.
 */
typedef struct annulus_options {
    /**
     * sizeof(annulus_options): it tells the library which version of this the program was compiled with.
     */
    size_t size;
    /**
     * How many messages the ring holds, exactly; any number above 0.
     */
    size_t capacity;
    /**
     * The size of a message, in bytes; above 0.
     */
    size_t message_size;
    /**
     * How threads wait that have to.
     */
    struct annulus_wait wait;
    /**
     * ANNULUS_STATISTICS, or 0.
     */
    uint32_t flags;
} annulus_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that the library has. It is ANNULUS_ABI_VERSION, or header and library do
 * not belong together. Any thread may call it.
 */
uint32_t annulus_abi_version(void);

/**
 * What a status means, in English. The text is constant, and never null; for a number that is no status it
 * says so. Any thread may call it.
 */
const char *annulus_strerror(int32_t status);

/**
 * Makes a queue, and its first producer and consumer.
 *
 * kind is ANNULUS_SPSC, ANNULUS_MPSC, ANNULUS_SPMC, ANNULUS_MPMC or ANNULUS_ORDERED. Messages of
 * the last three have at most ANNULUS_MESSAGE_MAX bytes; for larger ones, send the 4 bytes of a handle of
 * a pool. All memory of the ring is allocated here, and freed with the last handle of the queue.
 *
 * The caller owns both handles, and frees each with annulus_producer_free or annulus_consumer_free. A
 * handle may move to another thread; one thread at a time uses it. Any thread may call this.
 *
 * Returns ANNULUS_INVALID (a null pointer, another size of the options, a kind or a way to wait that is
 * none, a capacity of 0), ANNULUS_WRONG_SIZE (messages of 0 bytes, or of too many), ANNULUS_NO_MEMORY.
 * Then both handles are null.
 */
annulus_status annulus_queue_new(uint32_t kind,
                                 const struct annulus_options *options,
                                 struct annulus_producer **producer,
                                 struct annulus_consumer **consumer);

/**
 * Sends a copy of the message at message, if there is room. Never waits.
 *
 * size is the size of the message, and has to be the one of the queue. The queue has a copy afterwards;
 * the caller keeps its own. The thread that uses the producer may call this.
 *
 * Returns ANNULUS_FULL; ANNULUS_CLOSED; ANNULUS_RESERVED while a reservation is open; or
 * ANNULUS_INVALID, ANNULUS_WRONG_SIZE, ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_try_send(struct annulus_producer *producer, const void *message, size_t size);

/**
 * As annulus_producer_try_send, but waits while there is no room, in the way of the options.
 *
 * Returns ANNULUS_CLOSED if the queue is closed, or was closed while this waited; or as
 * annulus_producer_try_send.
 */
annulus_status annulus_producer_send(struct annulus_producer *producer, const void *message, size_t size);

/**
 * As annulus_producer_send, but gives up after timeout_ns nanoseconds on the monotonic clock. With 0 it
 * still sends if there is room.
 *
 * Returns ANNULUS_TIMEOUT if no room came in time; or as annulus_producer_send.
 */
annulus_status annulus_producer_send_timeout(struct annulus_producer *producer,
                                             const void *message,
                                             size_t size,
                                             uint64_t timeout_ns);

/**
 * Sends copies of as many of the count messages at messages as there is room for, from the first on.
 * They lie as in an array, each size bytes behind the one before. Never waits. *sent says how many were
 * sent.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_OK if at least one was sent, else as
 * annulus_producer_try_send; ANNULUS_INVALID also if count is 0.
 */
annulus_status annulus_producer_try_send_batch(struct annulus_producer *producer,
                                               const void *messages,
                                               size_t count,
                                               size_t size,
                                               size_t *sent);

/**
 * Reserves up to most messages in the ring, to be written there: *slots is the first one, and *count
 * how many there are, at least 1. There are fewer if fewer are free, or if the end of the ring comes first.
 * Each lies annulus_producer_stride bytes behind the one before, which is the size rounded up to a
 * multiple of 8; the first one is aligned for each type of that size. Never waits. Queues of one consumer
 * only.
 *
 * The slots are the caller's until it commits; nothing is sent before. annulus_producer_commit ends the
 * reservation. Until then, sends fail. The thread that uses the producer may call this.
 *
 * Returns ANNULUS_FULL, ANNULUS_CLOSED, ANNULUS_RESERVED (there is one already), ANNULUS_INVALID
 * (also if most is 0), ANNULUS_UNSUPPORTED (a queue of many consumers), ANNULUS_NOT_A_HANDLE. Then
 * *slots is null, and *count is 0.
 */
annulus_status annulus_producer_try_reserve(struct annulus_producer *producer,
                                            size_t most,
                                            void **slots,
                                            size_t *count);

/**
 * As annulus_producer_try_reserve, but waits while no slot is free, for timeout_ns nanoseconds at most;
 * ANNULUS_FOREVER is no limit. It waits for one slot, not for most of them.
 *
 * Returns ANNULUS_TIMEOUT if no slot became free in time; or as annulus_producer_try_reserve.
 */
annulus_status annulus_producer_reserve(struct annulus_producer *producer,
                                        size_t most,
                                        uint64_t timeout_ns,
                                        void **slots,
                                        size_t *count);

/**
 * Sends the first count messages of the reservation, all at once, and ends it. The others are not sent.
 * With 0 it sends nothing. The slots are no longer the caller's.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID if fewer are reserved (the
 * reservation stays); ANNULUS_CLOSED, and nothing is sent; ANNULUS_UNSUPPORTED, ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_commit(struct annulus_producer *producer, size_t count);

/**
 * Makes another producer of the same queue, which the caller owns. In a queue with a ring for each producer
 * it takes over the ring of one that was freed, or has a new one.
 *
 * The thread that uses producer may call this; another thread may use the new one. Returns
 * ANNULUS_UNSUPPORTED (a queue of one producer), ANNULUS_CLOSED, ANNULUS_NO_MEMORY, ANNULUS_INVALID,
 * ANNULUS_NOT_A_HANDLE. Then *another is null.
 */
annulus_status annulus_producer_clone(const struct annulus_producer *producer,
                                      struct annulus_producer **another);

/**
 * How many messages wait: of a queue with a ring for each producer, in this one's ring (in all of them, if
 * there are many consumers). It may have changed when this returns. 0 if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_producer_len(const struct annulus_producer *producer);

/**
 * How many messages the queue holds: exactly what was asked for. 0 if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_producer_capacity(const struct annulus_producer *producer);

/**
 * From one reserved message to the next, in bytes: the size, rounded up to a multiple of 8. 0 if producer
 * is no handle, or its queue has no reservations.
 *
 * The thread that uses the producer may call this.
 */
size_t annulus_producer_stride(const struct annulus_producer *producer);

/**
 * Closes the queue for all its producers, and wakes all threads that wait. Consumers receive what was sent
 * before, and then ANNULUS_CLOSED. No effect on a closed queue. The handle stays, and is to be freed.
 *
 * The thread that uses the producer may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_producer_close(struct annulus_producer *producer);

/**
 * Whether the queue is closed: every send fails from now on. True if producer is no handle.
 *
 * The thread that uses the producer may call this.
 */
bool annulus_producer_is_closed(const struct annulus_producer *producer);

/**
 * Frees the producer. With the last producer the queue closes; consumers receive what was sent before. A
 * reservation ends, and nothing of it is sent. Null is no error, and has no effect.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before, or
 * is a handle of another type: then nothing is freed.
 */
annulus_status annulus_producer_free(struct annulus_producer *producer);

/**
 * Receives the next message to message, if one is there. Never waits.
 *
 * size is how many bytes there are at message, and has to be the size of a message of the queue. The
 * thread that uses the consumer may call this.
 *
 * Returns ANNULUS_EMPTY; ANNULUS_CLOSED if the queue is closed and every message was received; or
 * ANNULUS_INVALID, ANNULUS_WRONG_SIZE, ANNULUS_NOT_A_HANDLE. Then message is as it was.
 */
annulus_status annulus_consumer_try_recv(struct annulus_consumer *consumer, void *message, size_t size);

/**
 * As annulus_consumer_try_recv, but waits while no message is there, in the way of the options.
 *
 * Returns ANNULUS_CLOSED if the queue is closed and every message was received, also while this waited; or
 * as annulus_consumer_try_recv.
 */
annulus_status annulus_consumer_recv(struct annulus_consumer *consumer, void *message, size_t size);

/**
 * As annulus_consumer_recv, but gives up after timeout_ns nanoseconds on the monotonic clock. With 0 it
 * still receives a message that is there.
 *
 * Returns ANNULUS_TIMEOUT if none came in time; or as annulus_consumer_recv.
 */
annulus_status annulus_consumer_recv_timeout(struct annulus_consumer *consumer,
                                             void *message,
                                             size_t size,
                                             uint64_t timeout_ns);

/**
 * Receives up to count messages to messages, where they lie as in an array, each size bytes behind the
 * one before. Never waits. *received says how many they are.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_OK if at least one was received, else
 * as
 * annulus_consumer_try_recv; ANNULUS_INVALID also if count is 0.
 */
annulus_status annulus_consumer_try_recv_batch(struct annulus_consumer *consumer,
                                               void *messages,
                                               size_t count,
                                               size_t size,
                                               size_t *received);

/**
 * Shows the next messages where they lie in the ring: *messages is the first one, and *count how many
 * lie beside each other, at least 1. Each lies annulus_consumer_stride bytes behind the one before. It
 * waits for the first one for timeout_ns nanoseconds at most: with 0 it does not wait, ANNULUS_FOREVER
 * is no limit. Queues of one consumer only.
 *
 * The messages stay in the queue, and may be read, until annulus_consumer_advance gives them back. The
 * pointer is good until then, or until the next receive. The thread that uses the consumer may call this.
 *
 * Returns ANNULUS_TIMEOUT (with 0: ANNULUS_EMPTY), ANNULUS_CLOSED, ANNULUS_UNSUPPORTED (a queue of
 * many consumers), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *messages is null, and *count is 0.
 */
annulus_status annulus_consumer_readable(struct annulus_consumer *consumer,
                                         uint64_t timeout_ns,
                                         const void **messages,
                                         size_t *count);

/**
 * Takes the first count of the messages that annulus_consumer_readable showed out of the queue. Their
 * slots go back to the producer at once.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_INVALID if fewer were shown and not
 * taken yet; ANNULUS_UNSUPPORTED, ANNULUS_NOT_A_HANDLE. Then nothing is taken.
 */
annulus_status annulus_consumer_advance(struct annulus_consumer *consumer, size_t count);

/**
 * Makes another consumer of the same queue, which the caller owns. Each message reaches one of them.
 *
 * The thread that uses consumer may call this; another thread may use the new one. Returns
 * ANNULUS_UNSUPPORTED (a queue of one consumer), ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then
 * *another is null.
 */
annulus_status annulus_consumer_clone(const struct annulus_consumer *consumer,
                                      struct annulus_consumer **another);

/**
 * A file descriptor for poll, epoll or io_uring that becomes readable when a message comes or the
 * queue closes, once annulus_consumer_arm has armed it. (Linux: an eventfd.) It belongs to the consumer,
 * which closes it when it is freed: the program must neither close it nor read from it.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_SYSTEM, ANNULUS_UNSUPPORTED,
 * ANNULUS_INVALID, ANNULUS_NOT_A_HANDLE. Then *fd is -1.
 */
annulus_status annulus_consumer_fd(struct annulus_consumer *consumer, int *fd);

/**
 * Arms the descriptor of annulus_consumer_fd, before each wait for it. *ready says whether a message, or
 * the end, is there already. If so, the descriptor is not armed: receive first. A receive disarms it.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_INVALID (there is no descriptor yet),
 * ANNULUS_NOT_A_HANDLE. Then *ready is true.
 */
annulus_status annulus_consumer_arm(struct annulus_consumer *consumer, bool *ready);

/**
 * How many messages wait, in all rings of the queue. It may have changed when this returns. 0 if consumer
 * is no handle.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_consumer_len(const struct annulus_consumer *consumer);

/**
 * How many messages the queue holds: exactly what was asked for. 0 if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_consumer_capacity(const struct annulus_consumer *consumer);

/**
 * From one readable message to the next, in bytes: the size, rounded up to a multiple of 8. 0 if consumer
 * is no handle, or its queue shows no messages.
 *
 * The thread that uses the consumer may call this.
 */
size_t annulus_consumer_stride(const struct annulus_consumer *consumer);

/**
 * Closes the queue, and wakes all threads that wait. Sends fail from now on; messages that were sent before
 * can still be received. No effect on a closed queue. The handle stays, and is to be freed.
 *
 * The thread that uses the consumer may call this; other threads use an annulus_closer. Returns
 * ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_consumer_close(struct annulus_consumer *consumer);

/**
 * Whether the queue is closed. There may be messages left. True if consumer is no handle.
 *
 * The thread that uses the consumer may call this.
 */
bool annulus_consumer_is_closed(const struct annulus_consumer *consumer);

/**
 * Frees the consumer. With the last consumer the queue closes, sends fail, and what was not received is
 * gone. Its descriptor is closed. Null is no error, and has no effect.
 *
 * The thread that uses the consumer may call this. Returns ANNULUS_NOT_A_HANDLE if it was freed before, or
 * is a handle of another type: then nothing is freed.
 */
annulus_status annulus_consumer_free(struct annulus_consumer *consumer);

/**
 * Makes a closer for the queue of this producer, which the caller owns.
 *
 * The thread that uses the producer may call this. Returns ANNULUS_INVALID or ANNULUS_NOT_A_HANDLE. Then
 * *closer is null.
 */
annulus_status annulus_producer_closer(const struct annulus_producer *producer,
                                       struct annulus_closer **closer);

/**
 * As annulus_producer_closer, for the queue of this consumer.
 */
annulus_status annulus_consumer_closer(const struct annulus_consumer *consumer,
                                       struct annulus_closer **closer);

/**
 * Closes the ring, and wakes all threads that wait. No effect on a ring that is closed, or gone.
 *
 * Any thread may call this, several at once, too, until the closer is freed. Returns ANNULUS_INVALID or
 * ANNULUS_NOT_A_HANDLE.
 */
annulus_status annulus_closer_close(const struct annulus_closer *closer);

/**
 * Frees the closer; the ring stays as it is. Null is no error, and has no effect.
 *
 * One thread may call this, when no other one uses the closer any more. Returns ANNULUS_NOT_A_HANDLE if it
 * was freed before, or is a handle of another type.
 */
annulus_status annulus_closer_free(struct annulus_closer *closer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ANNULUS_H */

/* annulus_options options = ANNULUS_OPTIONS(1024, sizeof(struct order)); The rest is the default. */
#define ANNULUS_OPTIONS(capacity, message_size) {sizeof(annulus_options), (capacity), (message_size), {0, 0, 0}, 0}
