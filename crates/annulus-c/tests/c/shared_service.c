/* Services between two processes: questions, answers in any order, refusals, and deaths of both sides. */
#include "two_processes.h"

enum { OPEN = 4, ASKED = 500 };

struct question {
    uint32_t number;
    bool kept;
};

struct answer {
    uint64_t number;
    double half;
};

static annulus_shared_options questions(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(OPEN, char, "question{number:u32,kept:bool}");
    options.message_size = 5;
    options.places = 2;
    return options;
}

static annulus_shared_options answers(void) {
    annulus_shared_options options = ANNULUS_SHARED_OPTIONS(0, struct answer, "answer{number:u64,half:f64}");
    return options;
}

static void put(unsigned char bytes[5], uint32_t number, unsigned char kept) {
    memcpy(bytes, &number, 4);
    bytes[4] = kept;
}

static uint32_t number_of(const unsigned char bytes[5]) {
    uint32_t number;
    memcpy(&number, bytes, 4);
    return number;
}

static annulus_server *new_server(annulus_invitation **invitation) {
    annulus_shared_options asks = questions(), answered = answers();
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_server *server;
    WORKS(annulus_shared_service_new(&asks, &answered, &server, invitation, &error));
    CHECK(error.text[0] == 0 && annulus_server_clients(server) == 0);
    return server;
}

static annulus_client *joined_client(const annulus_invitation *invitation) {
    annulus_shared_options asks = questions(), answered = answers();
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_client *client;
    WORKS(annulus_invitation_client(invitation, &asks, &answered, &client, &error));
    CHECK(error.text[0] == 0);
    return client;
}

static annulus_pending_answer *ask(annulus_client *client, uint32_t number, bool kept) {
    unsigned char question[5];
    annulus_pending_answer *pending;
    put(question, number, kept);
    WORKS(annulus_client_ask(client, question, sizeof question, &pending));
    return pending;
}

static annulus_request *next_request(annulus_server *server, unsigned char question[5]) {
    annulus_request *request;
    WORKS(annulus_server_recv(server, question, 5, ANNULUS_FOREVER, &request));
    return request;
}

static void answer_to(annulus_request *request, uint32_t number) {
    const struct answer answer = {number, number / 2.0};
    WORKS(annulus_request_answer(request, &answer, sizeof answer));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_request_answer(request, &answer, sizeof answer));
}

static void is_answer(annulus_pending_answer *pending, uint32_t number) {
    struct answer answer;
    WORKS(annulus_pending_answer_recv(pending, &answer, sizeof answer, ANNULUS_FOREVER));
    CHECK(answer.number == number && answer.half == number / 2.0);
    RETURNS(ANNULUS_INVALID, annulus_pending_answer_recv(pending, &answer, sizeof answer, 0));
    WORKS(annulus_pending_answer_free(pending));
}

/* The child's: as many open as may be, of which each seventh is refused. */
static void asks(size_t count) {
    annulus_invitation *invitation = received();
    annulus_client *client = joined_client(invitation);
    WORKS(annulus_invitation_free(invitation));
    annulus_pending_answer *open[OPEN];
    for (uint32_t first = 0; first < count; first += OPEN) {
        for (uint32_t at = 0; at < OPEN; at++) {
            open[at] = ask(client, first + at, at < OPEN - 1);
        }
        CHECK(annulus_client_open(client) == OPEN);
        for (uint32_t at = 0; at < OPEN; at++) {
            if ((first + at) % 7 != 6) {
                is_answer(open[at], first + at);
                continue;
            }
            struct answer answer;
            RETURNS(ANNULUS_REFUSED, annulus_pending_answer_recv(open[at], &answer, sizeof answer, ANNULUS_FOREVER));
            WORKS(annulus_pending_answer_free(open[at]));
        }
    }
    CHECK(annulus_client_open(client) == 0);
    WORKS(annulus_client_free(client));
}

static void in_any_order(void) {
    in_child(asks, ASKED);
    annulus_invitation *invitation;
    annulus_server *server = new_server(&invitation);
    sends(invitation);
    annulus_request *kept[OPEN];
    uint32_t numbers[OPEN];
    size_t count = 0;
    for (uint32_t number = 0; number < ASKED; number++) {
        unsigned char question[5];
        kept[count] = next_request(server, question);
        numbers[count] = number_of(question);
        CHECK(numbers[count] == number && annulus_request_client_is_there(kept[count]));
        count++;
        if (!question[4]) {
            while (count > 0) {
                count--;
                if (numbers[count] % 7 == 6) {
                    WORKS(annulus_request_free(kept[count]));
                } else {
                    answer_to(kept[count], numbers[count]);
                }
            }
        }
    }
    ends_by(0);
    CHECK(annulus_server_clients(server) == 0);
    WORKS(annulus_server_free(server));
}

/* The child's, which ends while it has a question. */
static void serves(size_t count) {
    annulus_invitation *invitation;
    annulus_server *server = new_server(&invitation);
    sends(invitation);
    unsigned char question[5];
    for (size_t number = 0; number < count; number++) {
        annulus_request *request = next_request(server, question);
        answer_to(request, number_of(question));
    }
    next_request(server, question);
    kill(getpid(), SIGKILL);
}

static void dead_server(void) {
    in_child(serves, 3);
    annulus_invitation *invitation = received();
    annulus_client *client = joined_client(invitation);
    for (uint32_t number = 0; number < 3; number++) {
        is_answer(ask(client, number, false), number);
    }
    annulus_peer peer;
    WORKS(annulus_client_peer(client, &peer));
    CHECK(peer == ANNULUS_PEER_ALIVE);
    annulus_pending_answer *pending = ask(client, 3, false);
    struct answer answer;
    RETURNS(ANNULUS_PEER_DIED, annulus_pending_answer_recv(pending, &answer, sizeof answer, ANNULUS_FOREVER));
    WORKS(annulus_client_peer(client, &peer));
    CHECK(peer == ANNULUS_PEER_DEAD);
    WORKS(annulus_pending_answer_free(pending));
    WORKS(annulus_client_free(client));
    annulus_shared_options of = questions(), answered = answers();
    RETURNS(ANNULUS_CLOSED, annulus_invitation_client(invitation, &of, &answered, &client, NULL));
    WORKS(annulus_invitation_free(invitation));
    ends_by(SIGKILL);
}

/* The child's, which ends while it waits. */
static void asks_and_dies(size_t number) {
    annulus_invitation *invitation = received();
    ask(joined_client(invitation), (uint32_t)number, false);
    kill(getpid(), SIGKILL);
}

static void dead_client(void) {
    in_child(asks_and_dies, 7);
    annulus_invitation *invitation;
    annulus_server *server = new_server(&invitation);
    WORKS(annulus_invitation_send(invitation, other));
    unsigned char question[5];
    annulus_request *request = next_request(server, question);
    CHECK(number_of(question) == 7);
    ends_by(SIGKILL);
    CHECK(!annulus_request_client_is_there(request));
    /* The next client has the place, so the answer has nowhere to go. */
    annulus_client *client = joined_client(invitation);
    const struct answer answer = {7, 3.5};
    RETURNS(ANNULUS_CLOSED, annulus_request_answer(request, &answer, sizeof answer));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_request_free(request));
    annulus_pending_answer *pending = ask(client, 8, false);
    request = next_request(server, question);
    answer_to(request, 8);
    is_answer(pending, 8);
    WORKS(annulus_client_free(client));
    WORKS(annulus_server_free(server));
    WORKS(annulus_invitation_free(invitation));
}

static void refused(void) {
    annulus_shared_options of = questions(), answered = answers(), wrong = ANNULUS_SHARED_OPTIONS(OPEN, double, "f64");
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    annulus_invitation *invitation;
    annulus_server *server;
    annulus_client *client;
    wrong.message_size = 4104;
    wrong.schema = NULL;
    RETURNS(ANNULUS_WRONG_SIZE, annulus_shared_service_new(&of, &wrong, &server, &invitation, &error));
    CHECK(server == NULL && invitation == NULL && error.found == 4104 && error.wanted == 4096);
    RETURNS(ANNULUS_INVALID, annulus_shared_service_new(&of, NULL, &server, &invitation, &error));
    server = new_server(&invitation);
    wrong.message_size = 8;
    wrong.schema = "f64";
    RETURNS(ANNULUS_MISMATCH, annulus_invitation_client(invitation, &of, &wrong, &client, &error));
    CHECK(client == NULL && strstr(error.text, "f64") != NULL);
    client = joined_client(invitation);
    annulus_client *bytes, *third;
    of.schema = NULL;
    WORKS(annulus_invitation_client(invitation, &of, &answered, &bytes, &error));
    RETURNS(ANNULUS_OCCUPIED, annulus_invitation_client(invitation, &of, &answered, &third, &error));
    CHECK(third == NULL && annulus_server_clients(server) == 2);
    WORKS(annulus_invitation_free(invitation));

    unsigned char question[5];
    struct answer answer = {1, 0.5};
    annulus_request *request;
    annulus_pending_answer *pending[OPEN], *one;
    RETURNS(ANNULUS_EMPTY, annulus_server_recv(server, question, 5, 0, &request));
    RETURNS(ANNULUS_TIMEOUT, annulus_server_recv(server, question, 5, 1000, &request));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_server_recv(server, question, 4, 0, &request));
    RETURNS(ANNULUS_INVALID, annulus_server_recv(server, NULL, 5, 0, &request));
    CHECK(request == NULL);
    int fd;
    bool ready;
    RETURNS(ANNULUS_INVALID, annulus_server_arm(server, &ready));
    WORKS(annulus_server_fd(server, &fd));
    WORKS(annulus_server_arm(server, &ready));
    CHECK(fd >= 0 && !ready);
    put(question, 1, 0);
    RETURNS(ANNULUS_WRONG_SIZE, annulus_client_ask(client, question, 6, &one));
    RETURNS(ANNULUS_INVALID, annulus_client_ask(client, NULL, 5, &one));
    RETURNS(ANNULUS_INVALID, annulus_client_ask(client, question, 5, NULL));
    CHECK(one == NULL);
    for (uint32_t number = 0; number < OPEN; number++) {
        pending[number] = ask(client, number, false);
    }
    RETURNS(ANNULUS_FULL, annulus_client_ask(client, question, 5, &one));
    WORKS(annulus_server_arm(server, &ready));
    CHECK(ready);
    RETURNS(ANNULUS_EMPTY, annulus_pending_answer_recv(pending[0], &answer, sizeof answer, 0));
    RETURNS(ANNULUS_TIMEOUT, annulus_pending_answer_recv(pending[0], &answer, sizeof answer, 1000));
    RETURNS(ANNULUS_WRONG_SIZE, annulus_pending_answer_recv(pending[0], &answer, 8, 0));
    RETURNS(ANNULUS_INVALID, annulus_pending_answer_recv(pending[0], NULL, sizeof answer, 0));
    WORKS(annulus_pending_answer_fd(pending[0], &fd));
    WORKS(annulus_pending_answer_arm(pending[0], &ready));
    CHECK(fd >= 0 && !ready);
    request = next_request(server, question);
    RETURNS(ANNULUS_WRONG_SIZE, annulus_request_answer(request, &answer, 8));
    RETURNS(ANNULUS_INVALID, annulus_request_answer(request, NULL, sizeof answer));
    answer_to(request, 0);
    WORKS(annulus_pending_answer_arm(pending[0], &ready));
    CHECK(ready);
    is_answer(pending[0], 0);

    /* What is no question of the schema is refused. */
    put(question, 9, 2);
    WORKS(annulus_client_ask(bytes, question, 5, &one));
    size_t corrupt = 0;
    for (uint32_t count = 0; count < OPEN; count++) {
        const annulus_status status = annulus_server_recv(server, question, 5, ANNULUS_FOREVER, &request);
        if (status == ANNULUS_CORRUPT) {
            CHECK(request == NULL);
            corrupt++;
        } else {
            WORKS(status);
            WORKS(annulus_request_free(request));
        }
    }
    CHECK(corrupt == 1);
    RETURNS(ANNULUS_REFUSED, annulus_pending_answer_recv(one, &answer, sizeof answer, ANNULUS_FOREVER));
    WORKS(annulus_pending_answer_free(one));
    WORKS(annulus_client_free(bytes));
    for (uint32_t number = 1; number < OPEN; number++) {
        RETURNS(ANNULUS_REFUSED, annulus_pending_answer_recv(pending[number], &answer, sizeof answer, ANNULUS_FOREVER));
        WORKS(annulus_pending_answer_free(pending[number]));
    }
    one = ask(client, 5, false);
    WORKS(annulus_server_close(server));
    put(question, 6, 0);
    annulus_pending_answer *none;
    annulus_request *late;
    RETURNS(ANNULUS_CLOSED, annulus_client_ask(client, question, 5, &none));
    request = next_request(server, question);
    RETURNS(ANNULUS_CLOSED, annulus_server_recv(server, question, 5, 0, &late));
    WORKS(annulus_server_free(server));
    answer_to(request, 5);
    is_answer(one, 5);
    WORKS(annulus_client_free(client));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_client_ask(client, question, 5, &none));
    WORKS(annulus_client_free(NULL));
    WORKS(annulus_server_free(NULL));
    WORKS(annulus_request_free(NULL));
    WORKS(annulus_pending_answer_free(NULL));
}

int main(void) {
    in_any_order();
    dead_server();
    dead_client();
    refused();
    return 0;
}
