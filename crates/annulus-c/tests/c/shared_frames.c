/* Rings of frames between two processes: written once, read in place, held, waited for, with a death. */
#include "two_processes.h"

enum { FRAME_BYTES = 5000, STAY = 4 };

static size_t length_of(uint64_t number) {
    return (size_t)(number * 977 % (FRAME_BYTES + 1));
}

static annulus_frame_publisher *new_frames(bool lossless, annulus_invitation **invitation) {
    annulus_shared_options options = ANNULUS_SHARED_BYTES_OPTIONS(STAY);
    annulus_frame_options frames = ANNULUS_FRAME_OPTIONS(FRAME_BYTES);
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_frame_publisher *publisher;
    options.places = 2;
    frames.lossless = lossless;
    frames.alignment = 4096;
    WORKS(annulus_shared_frames_new(&options, &frames, &publisher, invitation, &error));
    CHECK(annulus_frame_publisher_frames(publisher) == STAY + 2 * 2 + 1 + (lossless ? 1 : 0));
    CHECK(annulus_frame_publisher_lent(publisher) == SIZE_MAX);
    return publisher;
}

static annulus_frame_subscriber *joined_frames(const annulus_invitation *invitation, bool awaited) {
    annulus_shared_options options = ANNULUS_SHARED_BYTES_OPTIONS(0);
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_frame_subscriber *subscriber;
    WORKS(annulus_invitation_frames(invitation, &options, false, awaited, &subscriber, &error));
    CHECK(error.text[0] == 0);
    return subscriber;
}

static void publish(annulus_frame_publisher *publisher, uint64_t number) {
    void *bytes;
    uint64_t sequence;
    WORKS(annulus_frame_publisher_loan(publisher, FRAME_BYTES, &bytes));
    CHECK((uintptr_t)bytes % 4096 == 0 && annulus_frame_publisher_lent(publisher) < 16);
    fill((unsigned char *)bytes, length_of(number), number);
    WORKS(annulus_frame_publisher_publish(publisher, length_of(number), ANNULUS_FOREVER, &sequence));
    CHECK(sequence == number && annulus_frame_publisher_lent(publisher) == SIZE_MAX);
}

static void is_frame(const annulus_frame *frame, uint64_t number) {
    CHECK(frame->sequence == number && frame->length == length_of(number));
    is_number((const unsigned char *)frame->bytes, frame->length, number);
}

/* The child's: all frames, of which it always holds one. */
static void view(size_t count) {
    annulus_invitation *invitation = received();
    annulus_frame_subscriber *subscriber = joined_frames(invitation, true);
    WORKS(annulus_invitation_free(invitation));
    tell();
    annulus_frame frame, before;
    WORKS(annulus_frame_subscriber_recv(subscriber, ANNULUS_FOREVER, &before));
    for (uint64_t number = 1; number < count; number++) {
        WORKS(annulus_frame_subscriber_recv(subscriber, ANNULUS_FOREVER, &frame));
        is_frame(&before, number - 1);
        is_frame(&frame, number);
        WORKS(annulus_held_frame_free(before.held));
        before = frame;
    }
    if (count < MESSAGES) {
        kill(getpid(), SIGKILL);
    }
    CHECK(annulus_frame_subscriber_lagged(subscriber) == 0);
    RETURNS(ANNULUS_CLOSED, annulus_frame_subscriber_recv(subscriber, ANNULUS_FOREVER, &frame));
    CHECK(frame.held == NULL && frame.bytes == NULL);
    WORKS(annulus_frame_subscriber_free(subscriber));
    is_frame(&before, count - 1);
    WORKS(annulus_held_frame_free(before.held));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_held_frame_free(before.held));
}

/* The child's, which ends in the middle of a frame. */
static void shoot(size_t count) {
    annulus_invitation *invitation;
    annulus_frame_publisher *publisher = new_frames(false, &invitation);
    sends(invitation);
    listen_for();
    for (uint64_t number = 0; number < count; number++) {
        publish(publisher, number);
    }
    void *bytes;
    WORKS(annulus_frame_publisher_loan(publisher, 10, &bytes));
    kill(getpid(), SIGKILL);
}

static void lossless(void) {
    in_child(view, MESSAGES);
    annulus_invitation *invitation;
    annulus_frame_publisher *publisher = new_frames(true, &invitation);
    sends(invitation);
    listen_for();
    for (uint64_t number = 0; number < MESSAGES; number++) {
        publish(publisher, number);
    }
    WORKS(annulus_frame_publisher_free(publisher));
    ends_by(0);
}

static void dead_viewer(void) {
    in_child(view, 20);
    annulus_invitation *invitation;
    annulus_frame_publisher *publisher = new_frames(false, &invitation);
    sends(invitation);
    listen_for();
    for (uint64_t number = 0; number < 20; number++) {
        publish(publisher, number);
        usleep(1000);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    for (uint64_t number = 20; number < 40; number++) {
        publish(publisher, number);
    }
    CHECK(annulus_frame_publisher_held(publisher) == 0);
    WORKS(annulus_frame_publisher_free(publisher));
    CHECK(close(other) == 0);
}

static void dead_publisher(void) {
    in_child(shoot, 3);
    annulus_invitation *invitation = received();
    annulus_frame_subscriber *subscriber = joined_frames(invitation, true);
    WORKS(annulus_invitation_free(invitation));
    annulus_peer peer;
    WORKS(annulus_frame_subscriber_peer(subscriber, &peer));
    CHECK(peer == ANNULUS_PEER_ALIVE && annulus_frame_subscriber_frames(subscriber) == STAY + 5);
    int fd;
    bool ready;
    WORKS(annulus_frame_subscriber_fd(subscriber, &fd));
    WORKS(annulus_frame_subscriber_arm(subscriber, &ready));
    CHECK(fd >= 0 && !ready);
    tell();
    annulus_frame frames[3];
    for (uint64_t number = 0; number < 2; number++) {
        WORKS(annulus_frame_subscriber_recv(subscriber, ANNULUS_FOREVER, &frames[number]));
        is_frame(&frames[number], number);
    }
    RETURNS(ANNULUS_VIEWED, annulus_frame_subscriber_recv(subscriber, 0, &frames[2]));
    WORKS(annulus_held_frame_free(frames[0].held));
    WORKS(annulus_frame_subscriber_recv(subscriber, ANNULUS_FOREVER, &frames[2]));
    is_frame(&frames[2], 2);
    WORKS(annulus_held_frame_free(frames[2].held));
    RETURNS(ANNULUS_PEER_DIED, annulus_frame_subscriber_recv(subscriber, ANNULUS_FOREVER, &frames[2]));
    is_frame(&frames[1], 1);
    WORKS(annulus_held_frame_free(frames[1].held));
    WORKS(annulus_frame_subscriber_free(subscriber));
    ends_by(SIGKILL);
}

static void refused(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(STAY, float, "f32");
    annulus_frame_options frames = ANNULUS_FRAME_OPTIONS(100);
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_frame_publisher *publisher;
    annulus_frame_subscriber *subscriber;
    annulus_invitation *invitation;
    annulus_frame frame;
    void *bytes;
    frames.alignment = 65;
    RETURNS(ANNULUS_INVALID, annulus_shared_frames_new(&options, &frames, &publisher, &invitation, &error));
    CHECK(publisher == NULL && invitation == NULL && strstr(error.text, "65 bytes of alignment") != NULL);
    frames.size = 1;
    RETURNS(ANNULUS_INVALID, annulus_shared_frames_new(&options, &frames, &publisher, &invitation, NULL));
    RETURNS(ANNULUS_INVALID, annulus_shared_frames_new(&options, NULL, &publisher, &invitation, NULL));
    annulus_frame_options right = ANNULUS_FRAME_OPTIONS(100);
    right.lossless = true;
    WORKS(annulus_shared_frames_new(&options, &right, &publisher, &invitation, &error));

    annulus_shared_options doubles = ANNULUS_SHARED_OPTIONS(0, double, "f64");
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_frames(invitation, &doubles, false, true, &subscriber, &error));
    CHECK(subscriber == NULL && strstr(error.text, "f64") != NULL);
    WORKS(annulus_invitation_frames(invitation, &options, true, true, &subscriber, &error));
    WORKS(annulus_invitation_free(invitation));

    RETURNS(ANNULUS_INVALID, annulus_frame_publisher_publish(publisher, 0, 0, NULL));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_frame_publisher_loan(publisher, 101, &bytes));
    CHECK(bytes == NULL);
    for (int number = 0; number < STAY; number++) {
        WORKS(annulus_frame_publisher_loan(publisher, 4, &bytes));
        *(float *)bytes = 1.5f;
        RETURNS(ANNULUS_INVALID, annulus_frame_publisher_publish(publisher, 5, 0, NULL));
        WORKS(annulus_frame_publisher_publish(publisher, 4, 0, NULL));
    }
    WORKS(annulus_frame_publisher_loan(publisher, 4, &bytes));
    *(float *)bytes = 2.5f;
    RETURNS(ANNULUS_FULL, annulus_frame_publisher_publish(publisher, 4, 0, NULL));
    RETURNS(ANNULUS_TIMEOUT, annulus_frame_publisher_publish(publisher, 4, 1000000, NULL));
    RETURNS(ANNULUS_UNSUPPORTED, annulus_frame_subscriber_latest(subscriber, &frame));
    for (int number = 0; number < STAY + 1; number++) {
        WORKS(annulus_frame_subscriber_recv(subscriber, 0, &frame));
        CHECK(*(const float *)frame.bytes == (number < STAY ? 1.5f : 2.5f));
        WORKS(annulus_held_frame_free(frame.held));
        if (number == 0) {
            WORKS(annulus_frame_publisher_publish(publisher, 4, 0, NULL));
        }
    }
    RETURNS(ANNULUS_EMPTY, annulus_frame_subscriber_recv(subscriber, 0, &frame));
    RETURNS(ANNULUS_TIMEOUT, annulus_frame_subscriber_recv(subscriber, 1000, &frame));
    RETURNS(ANNULUS_INVALID, annulus_frame_subscriber_recv(subscriber, 0, NULL));
    WORKS(annulus_frame_publisher_free(publisher));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_frame_publisher_loan(publisher, 1, &bytes));
    RETURNS(ANNULUS_CLOSED, annulus_frame_subscriber_recv(subscriber, 0, &frame));
    WORKS(annulus_frame_subscriber_free(subscriber));
}

int main(void) {
    lossless();
    dead_viewer();
    dead_publisher();
    refused();
    return 0;
}
