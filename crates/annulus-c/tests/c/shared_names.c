/* Rings that are found by name. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "two_processes.h"

static char folder[] = "/tmp/annulus-names-XXXXXX";

static void find(size_t size) {
    annulus_shared_options options = options_of(size);
    annulus_invitation *invitation;
    WORKS(annulus_invitation_find(folder, "quotes", ANNULUS_FOREVER, &invitation, NULL));
    annulus_subscribable *subscribable;
    annulus_subscriber *subscriber;
    WORKS(annulus_invitation_subscribable(invitation, &options, &subscribable, NULL));
    WORKS(annulus_subscribable_subscribe(subscribable, true, &subscriber));
    WORKS(annulus_subscriber_recv(subscriber, message, size));
    is_number(message, size, 1);
    WORKS(annulus_subscriber_free(subscriber));
    WORKS(annulus_subscribable_free(subscribable));
    WORKS(annulus_invitation_free(invitation));
}

static void names(size_t size) {
    CHECK(mkdtemp(folder) != NULL);
    in_child(find, size);
    annulus_shared_options options = options_of(size);
    annulus_publisher *publisher;
    annulus_invitation *invitation, *found;
    annulus_name *name, *another;
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, NULL));
    fill(message, size, 1);
    WORKS(annulus_publisher_publish(publisher, message, size));
    RETURNS(ANNULUS_NOT_FOUND, annulus_invitation_find(folder, "quotes", 0, &found, &error));
    CHECK(found == NULL && strstr(error.text, "quotes") != NULL);
    RETURNS(ANNULUS_TIMEOUT, annulus_invitation_find(folder, "quotes", 1, &found, &error));
    WORKS(annulus_invitation_publish(invitation, folder, "quotes", &name, &error));
    RETURNS(ANNULUS_OCCUPIED, annulus_invitation_publish(invitation, folder, "quotes", &another, &error));
    CHECK(another == NULL);
    RETURNS(ANNULUS_INVALID, annulus_invitation_publish(invitation, folder, "a/b", &another, &error));
    RETURNS(ANNULUS_INVALID, annulus_invitation_publish(invitation, folder, NULL, &another, &error));
    ends_by(0);
    WORKS(annulus_name_free(name));
    RETURNS(ANNULUS_NOT_A_HANDLE, annulus_name_free(name));
    RETURNS(ANNULUS_NOT_FOUND, annulus_invitation_find(folder, "quotes", 0, &found, &error));
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_publisher_free(publisher));
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

/* The errno of the call that failed is there: of the directory, and of the file of a name. */
static void system_errors(void) {
    char root[] = "/tmp/annulus-names-XXXXXX", path[64];
    CHECK(mkdtemp(root) != NULL);
    annulus_shared_options options = options_of(8);
    annulus_publisher *publisher;
    annulus_invitation *invitation, *found;
    annulus_name *name;
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, NULL));
    snprintf(path, sizeof path, "%s/none/names", root);
    RETURNS(ANNULUS_SYSTEM, annulus_invitation_publish(invitation, path, "quotes", &name, &error));
    CHECK(error.system_error == ENOENT && strstr(error.text, path) != NULL);
    error.system_error = 0;
    RETURNS(ANNULUS_SYSTEM, annulus_invitation_find(path, "quotes", ANNULUS_FOREVER, &found, &error));
    CHECK(error.system_error == ENOENT);

    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const struct rlimit none = {0, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
    RETURNS(ANNULUS_SYSTEM, annulus_invitation_publish(invitation, root, "quotes", &name, &error));
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(error.system_error == EFBIG && strstr(error.text, "quotes") != NULL);
    RETURNS(ANNULUS_INVALID, annulus_invitation_publish(invitation, root, "a/b", &name, &error));
    CHECK(error.system_error == 0);
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_publisher_free(publisher));
    snprintf(path, sizeof path, "rm -r %s", root);
    CHECK(system(path) == 0);
}

/* A path is bytes, and a name is a text. */
static void bytes_that_are_no_text(void) {
    char root[] = "/tmp/annulus-names-XXXXXX", path[64];
    CHECK(mkdtemp(root) != NULL);
    snprintf(path, sizeof path, "%s/\xff", root);
    annulus_shared_options options = options_of(8);
    options.numbering = "quotes";
    options.numbering_directory = path;
    annulus_publisher *publisher;
    annulus_invitation *invitation, *found;
    annulus_name *name;
    annulus_shared_error error = ANNULUS_SHARED_ERROR;
    WORKS(annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, &error));
    WORKS(annulus_invitation_publish(invitation, path, "quotes", &name, &error));
    WORKS(annulus_invitation_find(path, "quotes", 0, &found, &error));
    struct stat there;
    CHECK(stat(path, &there) == 0 && S_ISDIR(there.st_mode));
    WORKS(annulus_invitation_free(found));
    WORKS(annulus_name_free(name));

    RETURNS(ANNULUS_INVALID, annulus_invitation_publish(invitation, path, "\xff", &name, &error));
    CHECK(strcmp(error.text, "name is no UTF-8") == 0);
    RETURNS(ANNULUS_INVALID, annulus_invitation_find(path, "\xff", 0, &found, &error));
    CHECK(strcmp(error.text, "name is no UTF-8") == 0);
    WORKS(annulus_invitation_free(invitation));
    WORKS(annulus_publisher_free(publisher));
    options.numbering = "\xff";
    RETURNS(ANNULUS_INVALID,
            annulus_shared_publisher_new(ANNULUS_LOSSY, &options, &publisher, &invitation, &error));
    CHECK(strcmp(error.text, "numbering is no UTF-8") == 0);
    snprintf(path, sizeof path, "rm -r %s", root);
    CHECK(system(path) == 0);
}

int main(void) {
    names(12);
    system_errors();
    bytes_that_are_no_text();
    return 0;
}
