/* One side of a ring between processes, whose other side is a program in Rust (`tests/shared.rs`). Its standard
   input is a Unix socket to that one. `quotes ROLE COUNT [dies]`. */
#include <annulus.h>
#include <signal.h>
#include <string.h>

#include "../c/check.h"

/* As the other side has it. */
struct quote {
    uint32_t symbol, number;
    uint32_t price; /* 12 bytes, aligned to 4: no multiple of a word */
};

static annulus_shared_options options = ANNULUS_SHARED_OPTIONS(16, struct quote, "Quote{symbol:u32,number:u32,price:u32}");
static annulus_shared_error error = ANNULUS_SHARED_ERROR;
static annulus_invitation *invitation;

static void check(annulus_status status) {
    if (status != ANNULUS_OK) {
        fprintf(stderr, "%s: %s\n", annulus_strerror(status), error.text);
        exit(1);
    }
}

static struct quote quote_of(uint32_t number) {
    struct quote quote = {number % 7, number, number * 2654435761u};
    return quote;
}

/* The sum of all that came, for the other side to compare. */
static uint64_t sum;

static void add(struct quote quote) {
    sum = sum * 31 + quote.symbol + quote.number + (uint64_t)quote.price;
}

static void dies(void) {
    kill(getpid(), SIGKILL);
}

static void receive_invitation(void) {
    check(annulus_invitation_receive(0, &invitation));
}

static void send_invitation(void) {
    check(annulus_invitation_send(invitation, 0));
}

static void wait_for_a_byte(void) {
    char byte;
    CHECK(read(0, &byte, 1) == 1);
}

static void send_all(annulus_producer *producer, uint32_t count, bool then_dies) {
    for (uint32_t number = 0; number < count; number++) {
        struct quote quote = quote_of(number);
        check(annulus_producer_send(producer, &quote, sizeof quote));
    }
    if (then_dies) {
        void *slots; /* one more, which is never committed */
        size_t reserved;
        annulus_status status = annulus_producer_try_reserve(producer, 1, &slots, &reserved);
        if (status == ANNULUS_OK) {
            memset(slots, 0xEE, sizeof(struct quote));
        }
        dies();
    }
    check(annulus_producer_free(producer));
}

static annulus_status receive_up_to(annulus_consumer *consumer, uint32_t count) {
    struct quote quote;
    annulus_status status = ANNULUS_OK;
    while (count-- > 0 && (status = annulus_consumer_recv(consumer, &quote, sizeof quote)) == ANNULUS_OK) {
        add(quote);
    }
    return status;
}

/* Records, of each length up to 200. */
static annulus_shared_options bytes_options = ANNULUS_SHARED_BYTES_OPTIONS(512);

static size_t length_of(uint32_t number) {
    return number * 37 % 201;
}

static void fill(unsigned char *bytes, uint32_t number) {
    for (size_t at = 0; at < length_of(number); at++) {
        bytes[at] = (unsigned char)(number * 31 + at);
    }
}

static void send_records(annulus_bytes_producer *producer, uint32_t count, bool then_dies) {
    unsigned char record[200];
    void *bytes;
    for (uint32_t number = 0; number < count; number++) {
        if (number % 2 == 0) {
            fill(record, number);
            check(annulus_bytes_producer_send(producer, record, length_of(number)));
        } else {
            check(annulus_bytes_producer_reserve(producer, 200, ANNULUS_FOREVER, &bytes));
            fill((unsigned char *)bytes, number);
            check(annulus_bytes_producer_commit(producer, length_of(number)));
        }
    }
    if (then_dies) {
        if (annulus_bytes_producer_try_reserve(producer, 10, &bytes) == ANNULUS_OK) {
            memset(bytes, 0xEE, 10); /* one more, which is never committed */
        }
        dies();
    }
    check(annulus_bytes_producer_free(producer));
}

/* Each record that came has the bytes of its number. */
static annulus_status receive_records(annulus_bytes_consumer *consumer, uint32_t count) {
    unsigned char buffer[200], expected[200];
    size_t length;
    annulus_status status = ANNULUS_OK;
    for (uint32_t number = 0; number < count; number++) {
        const void *record = buffer;
        status = number % 2 == 0 ? annulus_bytes_consumer_recv(consumer, buffer, sizeof buffer, &length)
                                 : annulus_bytes_consumer_readable(consumer, ANNULUS_FOREVER, &record, &length);
        if (status != ANNULUS_OK) {
            break;
        }
        fill(expected, number);
        CHECK(length == length_of(number) && memcmp(record, expected, length) == 0);
        sum++;
        if (number % 2 != 0) {
            check(annulus_bytes_consumer_advance(consumer));
        }
    }
    return status;
}

int main(int arguments, char **argument) {
    CHECK(arguments >= 3);
    const char *role = argument[1];
    uint32_t count = (uint32_t)atoi(argument[2]);
    bool then_dies = arguments == 4;
    annulus_status end = ANNULUS_OK;

    if (strcmp(role, "produce") == 0) {
        annulus_producer *producer;
        check(annulus_shared_producer_new(&options, &producer, &invitation, &error));
        send_invitation();
        send_all(producer, count, then_dies);
    } else if (strcmp(role, "join") == 0) {
        annulus_producer *producer;
        receive_invitation();
        check(annulus_invitation_producer(invitation, &options, &producer, &error));
        send_all(producer, count, then_dies);
    } else if (strcmp(role, "consume") == 0) {
        annulus_consumer *consumer;
        receive_invitation();
        check(annulus_invitation_consumer(invitation, &options, &consumer, &error));
        end = receive_up_to(consumer, count);
        if (then_dies) {
            dies();
        }
        check(annulus_consumer_free(consumer));
    } else if (strcmp(role, "collect") == 0) {
        annulus_consumer *consumer;
        options.flags = ANNULUS_CLOSE_WITH_LAST_PRODUCER;
        check(annulus_shared_consumer_new(&options, &consumer, &invitation, &error));
        send_invitation();
        end = receive_up_to(consumer, UINT32_MAX);
        check(annulus_consumer_free(consumer));
    } else if (strcmp(role, "publish") == 0) {
        annulus_publisher *publisher;
        options.capacity = 4096;
        check(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, &error));
        send_invitation();
        wait_for_a_byte(); /* the other side has subscribed */
        for (uint32_t number = 0; number < count; number++) {
            struct quote quote = quote_of(number);
            check(annulus_publisher_publish(publisher, &quote, sizeof quote));
        }
        if (then_dies) {
            dies();
        }
        check(annulus_publisher_free(publisher));
    } else if (strcmp(role, "subscribe") == 0) {
        annulus_subscribable *subscribable;
        annulus_subscriber *subscriber;
        receive_invitation();
        check(annulus_invitation_subscribable(invitation, &options, &subscribable, &error));
        check(annulus_subscribable_subscribe(subscribable, false, &subscriber));
        CHECK(write(0, "!", 1) == 1); /* it has subscribed */
        struct quote quote;
        while ((end = annulus_subscriber_recv(subscriber, &quote, sizeof quote)) == ANNULUS_OK) {
            add(quote);
        }
        CHECK(annulus_subscriber_lagged(subscriber) == 0);
        check(annulus_subscriber_free(subscriber));
        check(annulus_subscribable_free(subscribable));
    } else if (strcmp(role, "produce records") == 0) {
        annulus_bytes_producer *producer;
        check(annulus_shared_bytes_producer_new(&bytes_options, &producer, &invitation, &error));
        send_invitation();
        send_records(producer, count, then_dies);
    } else if (strcmp(role, "consume records") == 0) {
        annulus_bytes_consumer *consumer;
        receive_invitation();
        check(annulus_invitation_bytes_consumer(invitation, &bytes_options, &consumer, &error));
        end = receive_records(consumer, count);
        if (then_dies) {
            dies();
        }
        check(annulus_bytes_consumer_free(consumer));
    } else if (strcmp(role, "mistake") == 0) {
        annulus_subscribable *subscribable;
        receive_invitation();
        annulus_status status = annulus_invitation_subscribable(invitation, &options, &subscribable, &error);
        printf("%d %llu %llu %s\n", (int)status, (unsigned long long)error.found,
               (unsigned long long)error.wanted, error.text);
        return annulus_invitation_free(invitation);
    } else {
        CHECK(!"a role");
    }
    check(annulus_invitation_free(invitation));
    printf("%llu %d\n", (unsigned long long)sum, (int)end);
    return 0;
}
