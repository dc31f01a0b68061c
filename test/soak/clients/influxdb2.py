"""influxdb-client (InfluxDB 2): by user and password (a session), finds or creates its bucket, and writes in batches."""
import sys

from influxdb_client import InfluxDBClient, Point, WriteOptions

host, port, user, password, database, count = sys.argv[1:]
failures = []
with InfluxDBClient(url=f"http://{host}:{port}", username=user, password=password, org="any") as client:
    assert client.ping()
    buckets = client.buckets_api()
    if buckets.find_bucket_by_name(database) is None:
        buckets.create_bucket(bucket_name=database, org="any")
    with client.write_api(
        write_options=WriteOptions(batch_size=1000), error_callback=lambda conf, data, error: failures.append(error)
    ) as write:
        for i in range(int(count)):
            point = Point("python2").tag("host", f"h {i % 7}").field("n", i).field("s", 'a "b"').time((i + 1) * 1_000_000)
            write.write(bucket=database, record=point)
assert failures == [], failures[:3]
