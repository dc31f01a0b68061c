"""influxdb3-python (InfluxDB 3): writes by token."""
import sys

from influxdb_client_3 import InfluxDBClient3, Point, SYNCHRONOUS, write_client_options

host, port, user, password, database, count = sys.argv[1:]
with InfluxDBClient3(
    host=f"http://{host}:{port}",
    token=f"{user}:{password}",
    database=database,
    write_client_options=write_client_options(write_options=SYNCHRONOUS),
) as client:
    total = int(count)
    for start in range(0, total, 1000):
        client.write(
            [
                Point("python3").tag("host", f"h {i % 7}").field("n", i).time((i + 1) * 1_000_000)
                for i in range(start, min(start + 1000, total))
            ]
        )
