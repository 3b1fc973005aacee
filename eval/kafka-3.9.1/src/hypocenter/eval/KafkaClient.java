package hypocenter.eval;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Producer or consumer of one topic, which prints {@code progress N} after its N-th step.
 *
 * <p>{@code KafkaClient BOOTSTRAP produce TOPIC STEPS} creates the topic and writes a numbered record a step, each acknowledged before
 * the next. {@code KafkaClient BOOTSTRAP consume TOPIC STEPS} reads them as a consumer group and commits the offset after each.
 *
 * <p>Kafka's clients retry by themselves. What still fails is tried again until the step has used up its time; then, or when a record
 * is missing, the exit status is 1.
 */
public final class KafkaClient {
    private static final int REQUEST_TIMEOUT_MS = 3_000;
    private static final int CALL_TIMEOUT_MS = 5_000;
    private static final long STEP_LIMIT_MS = 10_000;
    private static final long RETRY_PAUSE_MS = 100;
    private static final int RECORD_BYTES = 500;

    private final String bootstrap;
    private final String topic;
    private final int steps;

    private KafkaClient(String bootstrap, String topic, int steps) {
        this.bootstrap = bootstrap;
        this.topic = topic;
        this.steps = steps;
    }

    public static void main(String[] args) throws InterruptedException {
        boolean produces = args.length == 4 && args[1].equals("produce");
        boolean consumes = args.length == 4 && args[1].equals("consume");
        if (!produces && !consumes) {
            System.err.println("usage: KafkaClient BOOTSTRAP produce|consume TOPIC STEPS");
            System.exit(64);
        }
        KafkaClient client = new KafkaClient(args[0], args[2], Integer.parseInt(args[3]));
        boolean good = produces ? client.produce() : client.consume();
        // Without waiting for the connections to close: the broker may be gone.
        System.exit(good ? 0 : 1);
    }

    private boolean produce() throws InterruptedException {
        Admin admin = Admin.create(properties());
        if (!completed("creating " + topic, () -> create(admin))) {
            return false;
        }
        Properties properties = properties();
        properties.put("key.serializer", StringSerializer.class.getName());
        properties.put("value.serializer", StringSerializer.class.getName());
        properties.put("acks", "all");
        properties.put("max.block.ms", CALL_TIMEOUT_MS);
        properties.put("delivery.timeout.ms", CALL_TIMEOUT_MS);
        KafkaProducer<String, String> producer = new KafkaProducer<>(properties);
        for (int step = 1; step <= steps; step++) {
            ProducerRecord<String, String> record =
                    new ProducerRecord<>(topic, Integer.toString(step), "x".repeat(RECORD_BYTES));
            if (!completed("step " + step, () -> within(producer.send(record)))) {
                return false;
            }
            System.out.println("progress " + step);
        }
        return true;
    }

    private boolean create(Admin admin) throws Exception {
        NewTopic wanted = new NewTopic(topic, 1, (short) 1);
        try {
            return within(admin.createTopics(Collections.singleton(wanted)).all());
        } catch (ExecutionException e) {
            // An attempt before has succeeded, although its answer did not arrive.
            if (e.getCause() instanceof TopicExistsException) {
                return true;
            }
            throw e;
        }
    }

    private boolean consume() throws InterruptedException {
        Properties properties = properties();
        properties.put("key.deserializer", StringDeserializer.class.getName());
        properties.put("value.deserializer", StringDeserializer.class.getName());
        properties.put("group.id", "readers-of-" + topic);
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        properties.put("default.api.timeout.ms", CALL_TIMEOUT_MS);
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties);
        consumer.subscribe(Collections.singleton(topic));
        Deque<ConsumerRecord<String, String>> fetched = new ArrayDeque<>();
        for (int step = 1; step <= steps; step++) {
            String key = Integer.toString(step);
            if (!completed("step " + step, () -> hasReached(consumer, fetched, key))) {
                return false;
            }
            String read = fetched.peekFirst().key();
            if (!read.equals(key)) {
                System.out.println("record " + key + " is missing, the next one is " + read);
                return false;
            }
            if (!completed("commit " + step, () -> hasCommitted(consumer))) {
                return false;
            }
            System.out.println("progress " + step);
        }
        return true;
    }

    /** Reads on if need be. Records before the wanted one are passed over: retries of a producer may write one twice. */
    private static boolean hasReached(
            KafkaConsumer<String, String> consumer, Deque<ConsumerRecord<String, String>> fetched, String key) {
        int wanted = Integer.parseInt(key);
        while (!fetched.isEmpty() && Integer.parseInt(fetched.peekFirst().key()) < wanted) {
            fetched.removeFirst();
        }
        if (fetched.isEmpty()) {
            consumer.poll(Duration.ofMillis(500)).forEach(fetched::addLast);
        }
        return !fetched.isEmpty() && Integer.parseInt(fetched.peekFirst().key()) >= wanted;
    }

    private static boolean hasCommitted(KafkaConsumer<String, String> consumer) {
        consumer.commitSync();
        return true;
    }

    private Properties properties() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("request.timeout.ms", REQUEST_TIMEOUT_MS);
        return properties;
    }

    private static boolean within(Future<?> future) throws Exception {
        future.get(CALL_TIMEOUT_MS, TimeUnit.MILLISECONDS);
        return true;
    }

    /** An attempt at a step: whether it is done. */
    private interface Attempt {
        boolean succeeds() throws Exception;
    }

    private static boolean completed(String what, Attempt attempt) throws InterruptedException {
        long started = System.nanoTime();
        while (true) {
            try {
                if (attempt.succeeds()) {
                    return true;
                }
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                System.out.println(what + " failed: " + e);
                Thread.sleep(RETRY_PAUSE_MS);
            }
            if (System.nanoTime() - started > TimeUnit.MILLISECONDS.toNanos(STEP_LIMIT_MS)) {
                System.out.println(what + " is not done after " + STEP_LIMIT_MS + " ms");
                return false;
            }
        }
    }
}
