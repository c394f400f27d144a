/* Newest values between two processes: read at once, waited for, by number and by key, with a death. */
#include <poll.h>

#include "two_processes.h"

enum { CELLS = 5, VALUE = 72 };

static unsigned char value[VALUE];

static annulus_shared_options values(void) {
    annulus_shared_options options = options_of(VALUE);
    options.capacity = CELLS;
    return options;
}

static annulus_watch_sender *new_sender(annulus_invitation **invitation) {
    annulus_shared_options options = values();
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_watch_sender *sender;
    WORKS(annulus_shared_watch_new(&options, &sender, invitation, &error));
    CHECK(annulus_watch_sender_cells(sender) == CELLS);
    return sender;
}

static annulus_watch_reader *joined_reader(annulus_invitation *invitation) {
    annulus_shared_options options = values();
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_watch_reader *reader;
    WORKS(annulus_invitation_watch(invitation, &options, &reader, &error));
    CHECK(error.text[0] == 0 && annulus_watch_reader_cells(reader) == CELLS);
    WORKS(annulus_invitation_free(invitation));
    return reader;
}

static void send_number(annulus_watch_sender *sender, size_t cell, uint64_t number) {
    fill(value, VALUE, number);
    memcpy(value, &number, sizeof number);
    WORKS(annulus_watch_sender_send(sender, cell, value, VALUE));
}

/* The number of the value that was received, which is whole. */
static uint64_t number_of(void) {
    uint64_t number;
    memcpy(&number, value, sizeof number);
    unsigned char rest[VALUE];
    fill(rest, VALUE, number);
    CHECK(memcmp(value + sizeof number, rest + sizeof number, VALUE - sizeof number) == 0);
    return number;
}

/* The child's: each change, up to the last one of both cells. */
static void follow(size_t last) {
    annulus_watch_reader *reader = joined_reader(received());
    annulus_watch_changes *all, *one;
    WORKS(annulus_watch_reader_changes(reader, ANNULUS_WATCH_ALL_CELLS, &all));
    WORKS(annulus_watch_reader_changes(reader, 1, &one));
    tell();
    uint64_t newest[2] = {0, 0}, received = 0;
    size_t cell;
    annulus_status status;
    while ((status = annulus_watch_changes_recv(all, ANNULUS_FOREVER, value, VALUE, &cell)) == ANNULUS_OK) {
        CHECK(cell < 2 && number_of() > newest[cell]);
        newest[cell] = number_of();
        received += 1;
    }
    CHECK(status == ANNULUS_CLOSED && newest[0] == last && newest[1] == last && received <= 2 * last);
    WORKS(annulus_watch_changes_recv(one, 0, value, VALUE, NULL));
    CHECK(number_of() == last);
    RETURNS(ANNULUS_CLOSED, annulus_watch_changes_recv(one, ANNULUS_FOREVER, value, VALUE, NULL));
    annulus_peer peer;
    WORKS(annulus_watch_reader_peer(reader, &peer));
    CHECK(peer == ANNULUS_PEER_CLOSED && annulus_watch_changes_corrupt(all) == 0);
    /* It lives on without the reader, and the values stay. */
    WORKS(annulus_watch_reader_get(reader, 0, value, VALUE));
    CHECK(number_of() == last);
    WORKS(annulus_watch_reader_free(reader));
    RETURNS(ANNULUS_CLOSED, annulus_watch_changes_recv(one, 0, value, VALUE, NULL));
    WORKS(annulus_watch_changes_free(all));
    WORKS(annulus_watch_changes_free(one));
}

static void changes_of_two_cells(void) {
    in_child(follow, MESSAGES);
    annulus_invitation *invitation;
    annulus_watch_sender *sender = new_sender(&invitation);
    sends(invitation);
    listen_for();
    for (uint64_t number = 1; number <= MESSAGES; number++) {
        send_number(sender, 0, number);
        send_number(sender, 1, number);
    }
    WORKS(annulus_watch_sender_free(sender));
    ends_by(0);
}

/* The child's, which dies. */
static void keep(size_t last) {
    annulus_invitation *invitation;
    annulus_watch_sender *sender = new_sender(&invitation);
    size_t cell;
    WORKS(annulus_watch_sender_cell(sender, "EURUSD", &cell));
    CHECK(cell == 0);
    sends(invitation);
    listen_for();
    for (uint64_t number = 1; number <= last; number++) {
        send_number(sender, cell, number);
    }
    kill(getpid(), SIGKILL);
}

static void dead_sender(void) {
    in_child(keep, 100);
    annulus_watch_reader *reader = joined_reader(received());
    annulus_watch_changes *changes;
    WORKS(annulus_watch_reader_changes(reader, ANNULUS_WATCH_ALL_CELLS, &changes));
    int fd;
    bool ready;
    WORKS(annulus_watch_changes_fd(changes, &fd));
    WORKS(annulus_watch_changes_arm(changes, &ready));
    CHECK(!ready);
    tell();
    struct pollfd waited = {fd, POLLIN, 0};
    CHECK(poll(&waited, 1, 60000) == 1);
    uint64_t number = 0;
    annulus_status status;
    while ((status = annulus_watch_changes_recv(changes, ANNULUS_FOREVER, value, VALUE, NULL)) == ANNULUS_OK) {
        CHECK(number_of() > number);
        number = number_of();
    }
    CHECK(status == ANNULUS_PEER_DIED && number == 100);
    size_t cell;
    WORKS(annulus_watch_reader_cell(reader, "EURUSD", &cell));
    WORKS(annulus_watch_reader_get(reader, cell, value, VALUE));
    CHECK(number_of() == 100);
    WORKS(annulus_watch_changes_free(changes));
    WORKS(annulus_watch_reader_free(reader));
    ends_by(SIGKILL);
}

static void keys(void) {
    annulus_invitation *invitation;
    annulus_watch_sender *sender = new_sender(&invitation);
    annulus_watch_reader *reader = joined_reader(invitation);
    char long_key[ANNULUS_WATCH_KEY_SIZE + 1] = {0}, key[ANNULUS_WATCH_KEY_SIZE];
    memset(long_key, 'x', 64);
    const char *const all[CELLS] = {"EURUSD", "gr\xc3\xb6\xc3\x9f" "e", long_key, "three", "four"};
    size_t cell;
    for (size_t number = 0; number < CELLS; number++) {
        RETURNS(ANNULUS_NOT_FOUND, annulus_watch_reader_cell(reader, all[number], &cell));
        RETURNS(ANNULUS_NOT_FOUND, annulus_watch_reader_key(reader, number, key));
        CHECK(cell == SIZE_MAX && key[0] == 0);
        WORKS(annulus_watch_sender_cell(sender, all[number], &cell));
        CHECK(cell == number);
        WORKS(annulus_watch_reader_cell(reader, all[number], &cell));
        WORKS(annulus_watch_reader_key(reader, number, key));
        CHECK(cell == number && strcmp(key, all[number]) == 0);
    }
    WORKS(annulus_watch_sender_cell(sender, "EURUSD", &cell));
    CHECK(cell == 0);
    RETURNS(ANNULUS_OCCUPIED, annulus_watch_sender_cell(sender, "five", &cell));
    long_key[64] = 'x';
    const char *const none[] = {"", "\xff", long_key, NULL};
    for (size_t number = 0; number < 4; number++) {
        RETURNS(ANNULUS_INVALID, annulus_watch_sender_cell(sender, none[number], &cell));
        CHECK(cell == SIZE_MAX);
    }
    RETURNS(ANNULUS_INVALID, annulus_watch_reader_key(reader, CELLS, key));
    RETURNS(ANNULUS_INVALID, annulus_watch_reader_key(reader, 0, NULL));
    WORKS(annulus_watch_reader_free(reader));
    WORKS(annulus_watch_sender_free(sender));
}

static void refused(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(2, bool, "bool");
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_watch_sender *sender;
    annulus_watch_reader *reader;
    annulus_watch_changes *changes;
    annulus_invitation *invitation;
    options.capacity = (1 << 20) + 1;
    RETURNS(ANNULUS_INVALID, annulus_shared_watch_new(&options, &sender, &invitation, &error));
    CHECK(sender == NULL && invitation == NULL && strstr(error.text, "cells") != NULL);
    annulus_shared_options large = options_of(4104);
    RETURNS(ANNULUS_WRONG_SIZE, annulus_shared_watch_new(&large, &sender, &invitation, &error));
    options.capacity = 2;
    WORKS(annulus_shared_watch_new(&options, &sender, &invitation, &error));
    annulus_shared_options bytes = ANNULUS_SHARED_OPTIONS(0, unsigned char, "u8");
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_watch(invitation, &bytes, &reader, &error));
    CHECK(reader == NULL && strstr(error.text, "bool") != NULL);
    annulus_subscribable *subscribable;
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_subscribable(invitation, &options, &subscribable, NULL));
    WORKS(annulus_invitation_watch(invitation, &options, &reader, &error));
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_watch_reader_changes(reader, 0, &changes));

    unsigned char flag = 9;
    RETURNS(ANNULUS_EMPTY, annulus_watch_reader_get(reader, 0, &flag, 1));
    RETURNS(ANNULUS_EMPTY, annulus_watch_sender_get(sender, 0, &flag, 1));
    RETURNS(ANNULUS_EMPTY, annulus_watch_changes_recv(changes, 0, &flag, 1, NULL));
    RETURNS(ANNULUS_TIMEOUT, annulus_watch_changes_recv(changes, 1000, &flag, 1, NULL));
    /* What is no bool is told, and left out, whichever process sends it. */
    unsigned char two = 2, one = 1;
    WORKS(annulus_watch_sender_send(sender, 0, &two, 1));
    RETURNS(ANNULUS_CORRUPT, annulus_watch_reader_get(reader, 0, &flag, 1));
    RETURNS(ANNULUS_CORRUPT, annulus_watch_changes_recv(changes, 0, &flag, 1, NULL));
    CHECK(flag == 9 && annulus_watch_changes_corrupt(changes) == 1);
    WORKS(annulus_watch_sender_send(sender, 0, &one, 1));
    WORKS(annulus_watch_changes_recv(changes, 0, &flag, 1, NULL));
    CHECK(flag == 1);

    RETURNS(ANNULUS_INVALID, annulus_watch_sender_send(sender, 2, &one, 1));
    RETURNS(ANNULUS_INVALID, annulus_watch_sender_get(sender, 2, &one, 1));
    RETURNS(ANNULUS_INVALID, annulus_watch_reader_get(reader, 2, &one, 1));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_watch_sender_send(sender, 0, &one, 2));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_watch_reader_get(reader, 0, &one, 0));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_watch_changes_recv(changes, 0, &one, 8, NULL));
    RETURNS(ANNULUS_INVALID, annulus_watch_changes_recv(changes, 0, NULL, 1, NULL));
    annulus_watch_changes *no_changes;
    RETURNS(ANNULUS_INVALID, annulus_watch_reader_changes(reader, 2, &no_changes));
    CHECK(no_changes == NULL);
    bool ready;
    RETURNS(ANNULUS_INVALID, annulus_watch_changes_arm(changes, &ready));
    CHECK(ready);
    WORKS(annulus_watch_sender_free(sender));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_watch_sender_send(sender, 0, &one, 1));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_watch_reader_get((annulus_watch_reader *)changes, 0, &flag, 1));
    WORKS(annulus_watch_reader_free(reader));
    WORKS(annulus_watch_changes_free(changes));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_watch_changes_free(changes));
    WORKS(annulus_watch_sender_free(NULL));
}

int main(void) {
    changes_of_two_cells();
    dead_sender();
    keys();
    refused();
    return 0;
}
