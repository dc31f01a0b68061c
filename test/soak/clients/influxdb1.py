"""influxdb (InfluxDB 1): creates its database, and writes lines in batches. Arguments: host, port, user, password, database, points."""
import sys

from influxdb import InfluxDBClient

host, port, user, password, database, count = sys.argv[1:]
client = InfluxDBClient(host=host, port=int(port), username=user, password=password, database=database)
client.ping()
client.create_database(database)
client.create_retention_policy("forever", "INF", "1", database=database, default=True)
assert any(each["name"] == database for each in client.get_list_database())
points = (
    {"measurement": "python1", "tags": {"host": f"h {i % 7}"}, "time": i + 1, "fields": {"n": i, "f": i / 2, "s": 'a "b"', "ok": True}}
    for i in range(int(count))
)
client.write_points(points, time_precision="ms", batch_size=1000)
