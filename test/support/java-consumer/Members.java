import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Members of groups, each in a thread of its own; an argument is a topic, which is also the name of its group, and settings:
 * topic;name=value;name=value. Prints a line for each record (R topic value), and for each change of what a member has
 * (A topic count). Ends when its input does.
 */
public class Members {
    private static volatile boolean running = true;

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        List<Thread> threads = new ArrayList<>();
        for (String argument : arguments) {
            Thread thread = new Thread(() -> run(argument, out));
            threads.add(thread);
            thread.start();
        }
        while (System.in.read() >= 0) { }
        running = false;
        for (Thread thread : threads) thread.join();
    }

    private static void run(String argument, PrintStream out) {
        String[] parts = argument.split(";");
        String topic = parts[0];
        Properties properties = new Properties();
        properties.put("group.id", topic);
        properties.put("auto.offset.reset", "earliest");
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            properties.put(parts[i].substring(0, equals), parts[i].substring(equals + 1));
        }
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            int had = -1;
            while (running) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    out.println("R " + topic + " " + record.value());
                }
                int has = consumer.assignment().size();
                if (has != had) out.println("A " + topic + " " + has);
                had = has;
            }
        } catch (Throwable error) {
            out.println("E " + topic + " " + error);
        }
    }
}
