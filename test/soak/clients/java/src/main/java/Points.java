import java.util.concurrent.TimeUnit;
import org.influxdb.InfluxDB;
import org.influxdb.InfluxDBFactory;
import org.influxdb.BatchOptions;
import org.influxdb.dto.Point;
import org.influxdb.dto.Query;

/** influxdb-java: creates its database, and writes batches. Arguments: host, port, user, password, database, points. */
public final class Points {
  public static void main(String[] args) {
    int count = Integer.parseInt(args[5]);
    try (InfluxDB client = InfluxDBFactory.connect("http://" + args[0] + ":" + args[1], args[2], args[3])) {
      client.ping();
      var created = client.query(new Query("CREATE DATABASE \"" + args[4] + "\""));
      if (created.hasError()) throw new IllegalStateException(created.getError());
      client.setDatabase(args[4]);
      client.enableBatch(BatchOptions.DEFAULTS.actions(1000).exceptionHandler((points, error) -> {
        error.printStackTrace();
        System.exit(1);
      }));
      for (int i = 0; i < count; i++) {
        client.write(Point.measurement("java").time(i + 1, TimeUnit.MILLISECONDS).tag("host", "h " + i % 7)
            .addField("n", i).addField("f", i / 2.0).addField("s", "a \"b\"").build());
      }
    }
  }
}
