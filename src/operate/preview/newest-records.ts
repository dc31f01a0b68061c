import type { ConnectorConfig } from '../../connect/api.ts';
import { withAdmin, type FixedProperties, type TaskClients } from '../../connect/tasks/task-clients.ts';
import { topicPartitionKey } from '../../data/record.ts';
import { RequestError } from '../../errors.ts';
import type { ConsumedRecord, Consumer, PartitionPosition } from '../../kafka/api.ts';

const POLL_MS = 200;
const CLOSE_TIMEOUT_MS = 2000;
/** If some of the newest records no longer exist, reading starts at the earliest existing one. */
const READING: FixedProperties = { 'auto.offset.reset': 'earliest' };

/**
 * The newest records of a topic, oldest first, at most `count`. Only records that exist at the time of the call are
 * included; after `timeoutMs`, those that have arrived so far are returned. Nothing is committed and no group is joined.
 */
export async function newestRecords(
  topic: string,
  count: number,
  connector: { readonly name: string; readonly config: ConnectorConfig },
  clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>,
  timeoutMs: number,
): Promise<ConsumedRecord[]> {
  const ends = await withAdmin(clients, connector, async (admin) => {
    if (!(await admin.describeTopics([topic])).has(topic)) throw new RequestError(404, `There is no topic ${topic}`);
    return (await admin.endOffsets(topic)).filter(({ offset }) => offset > 0);
  });
  if (ends.length === 0) return [];
  const consumer = await clients.sinkConsumer({ connector: connector.name, task: 0 }, connector.config, READING);
  try {
    return await readUpTo(ends, count, consumer, Date.now() + timeoutMs);
  } finally {
    await consumer.close(CLOSE_TIMEOUT_MS);
  }
}

async function readUpTo(
  ends: readonly PartitionPosition[],
  count: number,
  consumer: Consumer,
  deadline: number,
): Promise<ConsumedRecord[]> {
  const endOf = new Map(ends.map(({ topic, partition, offset }) => [topicPartitionKey(topic, partition), offset]));
  const existed = ({ topic, partition, offset }: ConsumedRecord): boolean =>
    offset < (endOf.get(topicPartitionKey(topic, partition)) ?? 0);
  consumer.assign(ends);
  for (const end of ends) consumer.seek({ ...end, offset: Math.max(0, end.offset - count) });
  let newest: ConsumedRecord[] = [];
  const isAtEnd = (end: PartitionPosition): boolean => (consumer.position(end) ?? 0) >= end.offset;
  while (!ends.every(isAtEnd) && Date.now() < deadline) {
    newest.push(...(await consumer.poll(POLL_MS)).filter(existed));
    newest = newest.sort(byTime).slice(-count);
  }
  return newest;
}

function byTime(a: ConsumedRecord, b: ConsumedRecord): number {
  return a.timestamp - b.timestamp || a.partition - b.partition || a.offset - b.offset;
}
