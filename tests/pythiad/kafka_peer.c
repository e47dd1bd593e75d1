/* What is on the other side of pythiad's Kafka: usage: kafka_peer [HOST:PORT]. Without a broker it
 * makes one, librdkafka's mock, in this process. It prints the address, then takes commands by
 * lines, and answers each with a line:
 *
 *   topic NAME PARTITIONS           ok
 *   delete NAME                     ok; the topic, of a real broker
 *   codec NAME                      ok; messages are packed so from now on
 *   send TOPIC PARTITION KEY FILE   the offset; the file is the message, KEY - for none
 *   stream TOPIC FILE               how many; the file has "KEY SIZE\n" and so many bytes for each
 *                                   message; which partition follows from the key
 *   committed GROUP TOPIC COUNT     the offset of each partition, -1: none
 *   fail TOPIC CODE                 ok; the mock's requests for it fail with an error, 0: not
 *   refuse CODE COUNT               ok; the mock's: after so many messages one fails with an error
 *   broker up|down                  ok; the mock's
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCE     0 /* of the requests of Kafka's protocol */
#define WAIT_MS     20000
#define MESSAGE_MAX "20000000"

struct peer {
    rd_kafka_mock_cluster_t *cluster;
    rd_kafka_t *owner, *producer;
    const char *address;
};

static void fail(const char *why)
{
    fprintf(stderr, "kafka_peer: %s\n", why);
    exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)) != RD_KAFKA_CONF_OK)
        fail(why);
}

static void note_delivery(rd_kafka_t *producer, const rd_kafka_message_t *m, void *context)
{
    (void)producer, (void)context;
    if (m->err)
        fail(rd_kafka_err2str(m->err));
    if (m->_private)
        *(int64_t *)m->_private = m->offset;
}

static rd_kafka_t *make_client(const struct peer *m, rd_kafka_type_t type, const char *name,
                               const char *value)
{
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "log_level", "0");
    if (m->address)
        set(conf, "bootstrap.servers", m->address);
    if (type == RD_KAFKA_PRODUCER) {
        set(conf, "message.max.bytes", MESSAGE_MAX);
        rd_kafka_conf_set_dr_msg_cb(conf, note_delivery);
    }
    if (name)
        set(conf, name, value);
    rd_kafka_t *client = rd_kafka_new(type, conf, why, sizeof(why));
    if (!client)
        fail(why);
    return client;
}

static void use_codec(struct peer *m, const char *codec)
{
    if (m->producer)
        rd_kafka_destroy(m->producer);
    m->producer = make_client(m, RD_KAFKA_PRODUCER, "compression.codec", codec);
    puts("ok");
}

static void send_file(struct peer *m, const char *topic, int partition, const char *key,
                      const char *path)
{
    FILE *from = fopen(path, "rb");
    if (!from || fseek(from, 0, SEEK_END) != 0)
        fail(path);
    size_t size = (size_t)ftell(from), key_size = strcmp(key, "-") == 0 ? 0 : strlen(key);
    char *bytes = malloc(size + 1);
    rewind(from);
    if (!bytes || fread(bytes, 1, size, from) != size)
        fail(path);
    fclose(from);
    int64_t offset = -1;
    rd_kafka_topic_t *to = rd_kafka_topic_new(m->producer, topic, NULL);
    if (rd_kafka_produce(to, partition, RD_KAFKA_MSG_F_FREE, bytes, size, key_size ? key : NULL,
                         key_size, &offset) != 0)
        fail(rd_kafka_err2str(rd_kafka_last_error()));
    rd_kafka_resp_err_t error = rd_kafka_flush(m->producer, WAIT_MS);
    if (error)
        fail(rd_kafka_err2str(error));
    rd_kafka_topic_destroy(to);
    printf("%lld\n", (long long)offset);
}

static void send_stream(const struct peer *m, const char *topic, const char *path)
{
    static char key[128], bytes[1 << 20];
    FILE *from = fopen(path, "rb");
    long count = 0;
    rd_kafka_topic_t *to = rd_kafka_topic_new(m->producer, topic, NULL);
    if (!from)
        fail(path);
    while (fgets(key, sizeof(key), from)) {
        char *blank = strchr(key, ' ');
        size_t size = blank ? strtoul(blank, NULL, 10) : SIZE_MAX;
        if (blank)
            *blank = '\0';
        if (size > sizeof(bytes) || fread(bytes, 1, size, from) != size)
            fail(path);
        while (rd_kafka_produce(to, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, bytes, size, key,
                                strlen(key), NULL) != 0) {
            if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL)
                fail(rd_kafka_err2str(rd_kafka_last_error()));
            rd_kafka_poll(m->producer, 100);
        }
        count++;
    }
    fclose(from);
    if (rd_kafka_flush(m->producer, WAIT_MS))
        fail("not all messages were delivered");
    rd_kafka_topic_destroy(to);
    printf("%ld\n", count);
}

/* Wait for the answer to a request of an administrator. */
static void await_result(rd_kafka_queue_t *queue)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
    if (!event || rd_kafka_event_error(event))
        fail(event ? rd_kafka_event_error_string(event) : "no answer");
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    puts("ok");
}

static void make_topic(const struct peer *m, const char *name, int partitions)
{
    char why[256];
    rd_kafka_queue_t *queue = rd_kafka_queue_new(m->producer);
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, why, sizeof(why));
    rd_kafka_CreateTopics(m->producer, &topic, 1, NULL, queue);
    await_result(queue);
    rd_kafka_NewTopic_destroy(topic);
}

static void delete_topic(const struct peer *m, const char *name)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(m->producer);
    rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(name);
    rd_kafka_DeleteTopics(m->producer, &topic, 1, NULL, queue);
    await_result(queue);
    rd_kafka_DeleteTopic_destroy(topic);
}

static void tell_committed(const struct peer *m, const char *group, const char *topic, int count)
{
    rd_kafka_t *client = make_client(m, RD_KAFKA_CONSUMER, "group.id", group);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, topic, i);
    rd_kafka_resp_err_t error = rd_kafka_committed(client, list, WAIT_MS);
    if (error)
        fail(rd_kafka_err2str(error));
    for (int i = 0; i < count; i++) {
        long long offset = (long long)list->elems[i].offset;
        printf("%s%lld", i > 0 ? " " : "", offset < 0 ? -1 : offset);
    }
    putchar('\n');
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
}

static int read_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (*end || number < 0 || number > 100000)
        fail(text);
    return (int)number;
}

static void run_command(struct peer *m, char *line)
{
    char word[5][512] = {{0}};
    int count =
        sscanf(line, "%511s %511s %511s %511s %511s", word[0], word[1], word[2], word[3], word[4]);
    if (count == 3 && strcmp(word[0], "topic") == 0) {
        if (!m->cluster)
            make_topic(m, word[1], read_number(word[2]));
        else if (rd_kafka_mock_topic_create(m->cluster, word[1], read_number(word[2]), 1) == 0)
            puts("ok");
    } else if (count == 2 && strcmp(word[0], "delete") == 0) {
        delete_topic(m, word[1]);
    } else if (count == 3 && strcmp(word[0], "stream") == 0) {
        send_stream(m, word[1], word[2]);
    } else if (count == 2 && strcmp(word[0], "codec") == 0) {
        use_codec(m, word[1]);
    } else if (count == 5 && strcmp(word[0], "send") == 0) {
        send_file(m, word[1], read_number(word[2]), word[3], word[4]);
    } else if (count == 4 && strcmp(word[0], "committed") == 0) {
        tell_committed(m, word[1], word[2], read_number(word[3]));
    } else if (count == 3 && strcmp(word[0], "fail") == 0) {
        rd_kafka_mock_topic_set_error(m->cluster, word[1],
                                      (rd_kafka_resp_err_t)read_number(word[2]));
        puts("ok");
    } else if (count == 3 && strcmp(word[0], "refuse") == 0) {
        for (int i = read_number(word[2]); i > 0; i--)
            rd_kafka_mock_push_request_errors(m->cluster, PRODUCE, 1, RD_KAFKA_RESP_ERR_NO_ERROR);
        rd_kafka_mock_push_request_errors(m->cluster, PRODUCE, 1,
                                          (rd_kafka_resp_err_t)read_number(word[1]));
        puts("ok");
    } else if (count == 2 && strcmp(word[0], "broker") == 0) {
        if (strcmp(word[1], "up") == 0)
            rd_kafka_mock_broker_set_up(m->cluster, 1);
        else
            rd_kafka_mock_broker_set_down(m->cluster, 1);
        puts("ok");
    } else {
        fail(line);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct peer m = {.address = argc > 1 ? argv[1] : NULL};
    char line[4096];
    if (!m.address) {
        m.owner = make_client(&m, RD_KAFKA_PRODUCER, NULL, NULL);
        m.cluster = rd_kafka_mock_cluster_new(m.owner, 1);
        m.address = rd_kafka_mock_cluster_bootstraps(m.cluster);
    }
    m.producer = make_client(&m, RD_KAFKA_PRODUCER, "compression.codec", "none");
    puts(m.address);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        run_command(&m, line);
    rd_kafka_destroy(m.producer);
    if (m.cluster) {
        rd_kafka_mock_cluster_destroy(m.cluster);
        rd_kafka_destroy(m.owner);
    }
    return 0;
}
