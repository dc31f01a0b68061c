import { RequestError } from '../../errors.ts';
import type { Admin, ConsumedRecord, Consumer, PartitionPosition } from '../../kafka/api.ts';

const POLL_MS = 200;
const CLOSE_TIMEOUT_MS = 2000;

/**
 * The newest records of a topic, oldest first, at most `count`. Only records that exist at the time of the call are
 * included; after `timeoutMs`, those that have arrived so far are returned. Nothing is committed and no group is joined.
 * At the end, both `clients` are closed.
 */
export async function newestRecords(
  topic: string,
  count: number,
  clients: { readonly admin: Admin; readonly consumer: Consumer },
  timeoutMs: number,
): Promise<ConsumedRecord[]> {
  const { admin, consumer } = clients;
  try {
    if (!(await admin.describeTopics([topic])).has(topic)) throw new RequestError(404, `There is no topic ${topic}`);
    const ends = (await admin.endOffsets(topic)).filter(({ offset }) => offset > 0);
    return await readUpTo(ends, count, consumer, Date.now() + timeoutMs);
  } finally {
    await Promise.all([admin.close(), consumer.close(CLOSE_TIMEOUT_MS)]);
  }
}

async function readUpTo(
  ends: readonly PartitionPosition[],
  count: number,
  consumer: Consumer,
  deadline: number,
): Promise<ConsumedRecord[]> {
  if (ends.length === 0) return [];
  consumer.assign(ends);
  for (const end of ends) consumer.seek({ ...end, offset: Math.max(0, end.offset - count) });
  let newest: ConsumedRecord[] = [];
  const isAtEnd = (end: PartitionPosition): boolean => (consumer.position(end) ?? 0) >= end.offset;
  while (!ends.every(isAtEnd) && Date.now() < deadline) {
    newest.push(...(await consumer.poll(POLL_MS)));
    newest = newest.sort(byTime).slice(-count);
  }
  return newest;
}

function byTime(a: ConsumedRecord, b: ConsumedRecord): number {
  return a.timestamp - b.timestamp || a.partition - b.partition || a.offset - b.offset;
}
