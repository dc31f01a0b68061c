"""opentsdb-py: its user and password stand in the address."""
import sys
from urllib.parse import quote

from opentsdb import TSDBClient

host, port, user, password, database, count = sys.argv[1:]
uri = f"http://{quote(user)}:{quote(password)}@{host}:{port}"
client = TSDBClient(uri=uri, host=host, port=int(port), max_queue_size=int(count) + 1)
assert client.is_alive()
for i in range(int(count)):
    client.send("opentsdb.py", i, host=f"h{i % 7}", timestamp=1_700_000_000 + i)
client.close()
client.wait()
assert client.statuses["failed"] == 0, client.statuses
