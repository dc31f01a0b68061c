import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.*;

/**
 * Apache Kafka's own producer, consumer and admin client for tests in another process. Each line of the input is a command as a JSON
 * object with `id` and `do`; its answer is a line with the same id. Commands run side by side. Ends when its input does.
 */
public class Peer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] HEADER_KEYS = {"", "h", "trace.id", "äß€😀", "x".repeat(300)};
    private static final Map<String, Map<Integer, Producer<byte[], byte[]>>> producers = new ConcurrentHashMap<>();
    private static String bootstrapServers;
    private static Admin admin;

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        bootstrapServers = arguments[0];
        admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers));
        ExecutorService pool = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode command = JSON.readTree(line);
            pool.submit(() -> {
                ObjectNode answer = JSON.createObjectNode().put("id", command.get("id").asInt());
                try {
                    execute(command, answer);
                } catch (Throwable error) {
                    Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
                    StackTraceElement at = Arrays.stream(cause.getStackTrace())
                        .filter(each -> each.getClassName().startsWith("Peer")).findFirst().orElse(null);
                    answer.put("error", cause + " at " + at);
                }
                synchronized (out) {
                    out.println(answer);
                }
            });
        }
        System.exit(0);
    }

    private static void execute(JsonNode command, ObjectNode answer) throws Exception {
        switch (command.get("do").asText()) {
            case "write": write(command, answer); break;
            case "read": read(command, answer); break;
            case "settle": answer.put("isHanging", settle(command.get("transactionalIds"), command.path("topic").asText())); break;
            case "join": join(command, answer); break;
            case "move": move(command); break;
            case "end": end(command.get("topic").asText()); break;
            default: throw new IllegalArgumentException("Unknown command " + command.get("do"));
        }
    }

    /** Runs the steps of a plan in order; its producers stay open until `end`. */
    private static void write(JsonNode plan, ObjectNode answer) throws Exception {
        String topic = plan.get("topic").asText();
        Map<Integer, Producer<byte[], byte[]>> own = producers.computeIfAbsent(topic, name -> new HashMap<>());
        Set<Integer> open = new HashSet<>();
        int sent = 0, refused = 0;
        for (JsonNode step : plan.get("steps")) {
            int number = step.path("producer").asInt(-1);
            Producer<byte[], byte[]> producer = number < 0 ? null : own.get(number);
            if (producer == null && number >= 0) {
                own.put(number, producer = producerOf(plan.get("producers").get(number)));
            }
            switch (step.get("step").asText()) {
                case "create":
                    Map<String, String> settings = settings(step);
                    NewTopic created = step.has("replicas")
                        ? new NewTopic(topic, replicas(step.get("replicas")))
                        : new NewTopic(topic, step.get("partitions").asInt(), (short) 1);
                    admin.createTopics(List.of(created.configs(settings))).all().get();
                    awaitLeaders(topic, step.has("replicas") ? step.get("replicas").size() : step.get("partitions").asInt());
                    break;
                case "send":
                    List<Future<RecordMetadata>> results = send(producer, topic, step);
                    producer.flush();
                    for (Future<RecordMetadata> result : results) {
                        try {
                            result.get();
                            sent++;
                        } catch (ExecutionException error) {
                            if (!(error.getCause() instanceof RecordTooLargeException)) throw error;
                            refused++;
                        }
                    }
                    break;
                case "begin": producer.beginTransaction(); open.add(number); break;
                case "commit": producer.commitTransaction(); open.remove(number); break;
                case "abort": producer.abortTransaction(); open.remove(number); break;
                case "alter": alter(topic, settings(step)); break;
                case "delete": deletePrefix(topic, step.get("partition").asInt(), step.get("share").asDouble()); break;
                case "compact": awaitCompaction(topic, step.get("partition").asInt()); break;
                default: throw new IllegalArgumentException("Unknown step " + step);
            }
        }
        ArrayNode ended = JSON.createArrayNode();
        own.forEach((number, producer) -> {
            JsonNode id = plan.get("producers").get(number).get("settings").get("transactional.id");
            if (id != null && !open.contains(number)) ended.add(id);
        });
        settle(ended, "");
        answer.put("sent", sent).put("refused", refused);
    }

    /**
     * Waits until all partitions answer: when the first batch of an idempotent producer meets a partition that is not ready, and the
     * next one does not, Java's producer retries the first until it expires.
     */
    private static void awaitLeaders(String topic, int partitions) throws Exception {
        Map<TopicPartition, OffsetSpec> places = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            places.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        while (true) {
            try {
                admin.listOffsets(places).all().get();
                return;
            } catch (ExecutionException error) {
                if (!(error.getCause() instanceof UnknownTopicOrPartitionException)) throw error;
                Thread.sleep(5);
            }
        }
    }

    /**
     * Waits until the markers of ended transactions are written, which a commit or an abort does not wait for. Returns whether one of
     * them is open in a partition of the topic although its coordinator says that it is complete: brokers of 4.3.1 that were killed
     * before they wrote the markers can complete it without them when they start again.
     */
    private static boolean settle(JsonNode transactionalIds, String topic) throws Exception {
        boolean isHanging = false;
        for (JsonNode id : transactionalIds) {
            TransactionDescription described;
            do {
                described = admin.describeTransactions(List.of(id.asText())).description(id.asText()).get();
                Thread.sleep(5);
            } while (described.state() == TransactionState.PREPARE_COMMIT || described.state() == TransactionState.PREPARE_ABORT);
            if (!topic.isEmpty() && described.state() != TransactionState.ONGOING) isHanging |= isOpen(topic, described.producerId());
        }
        return isHanging;
    }

    private static boolean isOpen(String topic, long producerId) throws Exception {
        List<TopicPartition> partitions = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().stream()
            .map(each -> new TopicPartition(topic, each.partition())).toList();
        return admin.describeProducers(partitions).all().get().values().stream()
            .flatMap(state -> state.activeProducers().stream())
            .anyMatch(each -> each.producerId() == producerId && each.currentTransactionStartOffset().isPresent());
    }

    private static Producer<byte[], byte[]> producerOf(JsonNode options) {
        Map<String, Object> properties = new HashMap<>(settings(options));
        properties.put("bootstrap.servers", bootstrapServers);
        Producer<byte[], byte[]> producer =
            new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        if (properties.containsKey("transactional.id")) producer.initTransactions();
        return producer;
    }

    private static List<Future<RecordMetadata>> send(Producer<byte[], byte[]> producer, String topic, JsonNode step) {
        Random random = new Random(step.get("seed").asLong());
        List<Future<RecordMetadata>> results = new ArrayList<>();
        int count = step.get("count").asInt();
        int minBytes = step.get("minBytes").asInt(), maxBytes = step.get("maxBytes").asInt();
        int keys = step.get("keys").asInt(), headers = step.get("headers").asInt();
        double nulls = step.get("nulls").asDouble(), noise = step.get("noise").asDouble();
        long time = step.get("time").asLong(), spread = step.get("spread").asLong();
        for (int index = 0; index < count; index++) {
            byte[] key = null;
            if (keys > 0) key = ("key-" + random.nextInt(keys)).getBytes(StandardCharsets.UTF_8);
            else if (random.nextDouble() >= nulls) key = bytes(random, random.nextInt(20), 1);
            int size = minBytes + (int) Math.round(Math.pow(random.nextDouble(), 2) * (maxBytes - minBytes));
            byte[] value = random.nextDouble() < nulls ? null : bytes(random, size, noise);
            Long timestamp = time < 0 ? null : Math.max(0, time + Math.round((random.nextDouble() - 0.5) * spread));
            List<Header> own = new ArrayList<>();
            for (int left = headers == 0 ? 0 : random.nextInt(headers + 1); left > 0; left--) {
                byte[] content = random.nextInt(4) == 0 ? null : bytes(random, random.nextInt(30), 1);
                own.add(new RecordHeader(HEADER_KEYS[random.nextInt(HEADER_KEYS.length)], content));
            }
            Integer partition = step.get("partition").asInt() < 0 ? null : step.get("partition").asInt();
            results.add(producer.send(new ProducerRecord<>(topic, partition, timestamp, key, value, own)));
        }
        return results;
    }

    /** `noise`: the part that cannot be compressed. */
    private static byte[] bytes(Random random, int size, double noise) {
        byte[] all = new byte[size];
        byte[] part = new byte[(int) Math.round(size * noise)];
        random.nextBytes(part);
        Arrays.fill(all, (byte) 'v');
        System.arraycopy(part, 0, all, 0, part.length);
        return all;
    }

    private static void deletePrefix(String topic, int partition, double share) throws Exception {
        TopicPartition place = new TopicPartition(topic, partition);
        long end = admin.listOffsets(Map.of(place, OffsetSpec.latest())).partitionResult(place).get().offset();
        admin.deleteRecords(Map.of(place, RecordsToDelete.beforeOffset((long) (end * share)))).all().get();
    }

    private static void alter(String topic, Map<String, String> settings) throws Exception {
        List<AlterConfigOp> changes = new ArrayList<>();
        settings.forEach((name, value) ->
            changes.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
        for (boolean known = false; !known; ) {
            Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
            known = settings.entrySet().stream().allMatch(each -> each.getValue().equals(config.get(each.getKey()).value()));
        }
    }

    /**
     * Waits until the cleaner has been through everything that was written before: a record is written, and others with its key, in
     * segments of their own; when the first is gone, so is everything before it that compaction removes.
     */
    private static void awaitCompaction(String topic, int partition) throws Exception {
        byte[] key = "probe".getBytes(StandardCharsets.UTF_8);
        TopicPartition place = new TopicPartition(topic, partition);
        long first = -1;
        try (Producer<byte[], byte[]> producer = producerOf(JSON.createObjectNode().set("settings", JSON.createObjectNode()))) {
            for (int index = 0; index < 3; index++) {
                long time = (1L << 50) + index * 1_000_000_000L;
                long offset = producer.send(new ProducerRecord<>(topic, partition, time, key, key)).get().offset();
                if (index == 0) first = offset;
                Thread.sleep(3);
            }
        }
        try (Consumer<byte[], byte[]> consumer = consumerOf(Map.of("max.poll.records", "1"))) {
            consumer.assign(List.of(place));
            for (long deadline = System.currentTimeMillis() + 60_000; ; ) {
                consumer.seek(place, first);
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(5))) {
                    if (record.offset() > first) return;
                }
                if (System.currentTimeMillis() > deadline) throw new IllegalStateException("It was not compacted");
                Thread.sleep(20);
            }
        }
    }

    private static Consumer<byte[], byte[]> consumerOf(Map<String, String> settings) {
        Map<String, Object> properties = new HashMap<>(settings);
        properties.put("bootstrap.servers", bootstrapServers);
        properties.putIfAbsent("enable.auto.commit", "false");
        properties.putIfAbsent("auto.offset.reset", "earliest");
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** All records of a topic, as lines, and where each partition begins and ends. */
    private static void read(JsonNode command, ObjectNode answer) {
        String topic = command.get("topic").asText();
        try (Consumer<byte[], byte[]> consumer = consumerOf(settings(command))) {
            List<TopicPartition> places = new ArrayList<>();
            for (int partition = 0; partition < command.get("partitions").asInt(); partition++) {
                places.add(new TopicPartition(topic, partition));
            }
            consumer.assign(places);
            Map<TopicPartition, Long> starts = consumer.beginningOffsets(places), ends = consumer.endOffsets(places);
            Map<TopicPartition, ArrayNode> lines = new LinkedHashMap<>();
            for (TopicPartition place : places) lines.put(place, JSON.createArrayNode());
            consumer.seekToBeginning(places);
            long deadline = System.currentTimeMillis() + command.path("timeoutMs").asLong(60_000);
            while (places.stream().anyMatch(place -> consumer.position(place) < ends.get(place))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    lines.get(new TopicPartition(topic, record.partition())).add(lineOf(record));
                }
                if (System.currentTimeMillis() > deadline) throw new IllegalStateException("Java's consumer found no end");
            }
            ArrayNode partitions = answer.putArray("partitions");
            lines.forEach((place, own) -> partitions.addObject()
                .put("start", starts.get(place)).put("end", ends.get(place)).set("lines", own));
        }
    }

    /** Reads as a member of a group until it has had some records, or for some time; commits, and leaves. */
    private static void join(JsonNode command, ObjectNode answer) {
        ArrayNode records = answer.put("refused", false).putArray("records");
        try (Consumer<byte[], byte[]> consumer = consumerOf(settings(command))) {
            consumer.subscribe(List.of(command.get("topic").asText()), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> places) {
                    commit(consumer, answer);
                }

                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> places) { }
            });
            long deadline = System.currentTimeMillis() + command.get("ms").asLong();
            while (records.size() < command.get("records").asInt() && System.currentTimeMillis() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50))) {
                    records.addObject().put("partition", record.partition()).put("line", lineOf(record));
                }
            }
            commit(consumer, answer);
        }
    }

    private static void commit(Consumer<byte[], byte[]> consumer, ObjectNode answer) {
        try {
            consumer.commitSync();
        } catch (CommitFailedException | RebalanceInProgressException error) {
            answer.put("refused", true);
        }
    }

    /** Gives a partition another leader: the next of its replicas. */
    private static void move(JsonNode command) throws Exception {
        TopicPartition place = new TopicPartition(command.get("topic").asText(), command.get("partition").asInt());
        List<Integer> replicas = new ArrayList<>();
        admin.describeTopics(List.of(place.topic())).allTopicNames().get().get(place.topic()).partitions()
            .get(place.partition()).replicas().forEach(node -> replicas.add(node.id()));
        Collections.rotate(replicas, 1);
        admin.alterPartitionReassignments(Map.of(place, Optional.of(new NewPartitionReassignment(replicas)))).all().get();
        try {
            admin.electLeaders(ElectionType.PREFERRED, Set.of(place)).all().get();
        } catch (ExecutionException error) {
            if (!(error.getCause() instanceof ElectionNotNeededException)) throw error;
        }
    }

    private static void end(String topic) throws Exception {
        Map<Integer, Producer<byte[], byte[]>> own = producers.remove(topic);
        if (own != null) for (Producer<byte[], byte[]> producer : own.values()) producer.close();
        admin.deleteTopics(List.of(topic)).all().get();
    }

    private static Map<String, String> settings(JsonNode of) {
        Map<String, String> settings = new HashMap<>();
        of.path("settings").properties().forEach(each -> settings.put(each.getKey(), each.getValue().asText()));
        return settings;
    }

    private static Map<Integer, List<Integer>> replicas(JsonNode lists) {
        Map<Integer, List<Integer>> replicas = new HashMap<>();
        for (JsonNode list : lists) {
            List<Integer> own = new ArrayList<>();
            list.forEach(each -> own.add(each.asInt()));
            replicas.put(replicas.size(), own);
        }
        return replicas;
    }

    /** As `lineOf` in record-lines.ts. */
    private static String lineOf(ConsumerRecord<byte[], byte[]> record) {
        StringBuilder line = new StringBuilder();
        line.append(record.offset()).append(' ').append(record.timestamp());
        line.append(record.timestampType() == TimestampType.LOG_APPEND_TIME ? " append " : " create ");
        line.append(sumOf(record.key())).append(' ').append(sumOf(record.value()));
        for (Header header : record.headers()) {
            line.append(' ').append(sumOf(header.key().getBytes(StandardCharsets.UTF_8)));
            line.append('=').append(sumOf(header.value()));
        }
        return line.toString();
    }

    private static String sumOf(byte[] bytes) {
        if (bytes == null) return "null";
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return bytes.length + ":" + Long.toHexString(sum.getValue());
    }
}
