import type { SinkOffset, SourceOffset } from '../connect/api.ts';
import { coordinatesKey } from '../connect/source/offset-tracker.ts';
import { javaText } from '../java/java-text.ts';
import { topicPartitionKey, type SourceCoordinates } from '../data/record.ts';
import type { ConnectValue } from '../data/value.ts';
import { RequestError } from '../errors.ts';

/** A parsed JSON object, in which whole numbers are bigint. */
export type JsonObject = ReadonlyMap<ConnectValue, ConnectValue>;

/** One entry of `offsets` in a request, for a sink or a source. */
export interface OffsetChange {
  readonly partition: JsonObject | null;
  readonly offset: JsonObject | null;
}

const TOPIC = 'kafka_topic';
const PARTITION = 'kafka_partition';
const OFFSET = 'kafka_offset';
const MAX_INT = 2_147_483_647;

/**
 * Parses the offsets of a sink like org.apache.kafka.connect.util.SinkUtils#parseSinkConnectorOffsets. If a partition occurs
 * several times, its last entry is used.
 */
export function sinkOffsets(changes: readonly OffsetChange[]): SinkOffset[] {
  const parsed = changes.map(sinkOffset);
  return [...new Map(parsed.map((each) => [topicPartitionKey(each.topic, each.partition), each] as const)).values()];
}

function sinkOffset({ partition: given, offset }: OffsetChange): SinkOffset {
  if (given === null) throw refused('The partition for a sink connector offset cannot be null or missing');
  if (!given.has(TOPIC) || !given.has(PARTITION)) {
    throw refused(`The partition for a sink connector offset must contain the keys '${TOPIC}' and '${PARTITION}'`);
  }
  const topic = given.get(TOPIC) ?? null;
  if (topic === null) throw refused('Kafka topic names must be valid strings and may not be null');
  const number = given.get(PARTITION) ?? null;
  if (number === null) throw refused('Kafka partitions must be valid numbers and may not be null');
  const partition = integer(number);
  if (partition === undefined || Math.abs(partition) > MAX_INT) throw unparsable('partition', number);
  return { topic: javaText(topic), partition, offset: offset === null ? null : kafkaOffset(offset) };
}

function kafkaOffset(given: JsonObject): number {
  if (!given.has(OFFSET)) {
    throw refused(`The offset for a sink connector should either be null or contain the key '${OFFSET}'`);
  }
  const value = given.get(OFFSET) ?? null;
  const offset = integer(value);
  if (offset === undefined) throw unparsable('offset', value);
  if (offset < 0) throw refused('Invalid negative offset');
  return offset;
}

/** Converts a number or text to an integer; `undefined` if the value is not an integer. */
function integer(value: ConnectValue): number | undefined {
  const text = javaText(value);
  const number = Number(text);
  return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined;
}

/** Parses the offsets of a source, which may be any flat maps. If a partition occurs several times, its last entry is used. */
export function sourceOffsets(changes: readonly OffsetChange[]): SourceOffset[] {
  const byPartition = new Map<string, SourceOffset>();
  for (const { partition, offset } of changes) {
    const parsed = { partition: flatMap(partition), offset: flatMap(offset) };
    byPartition.set(parsed.partition === null ? '' : coordinatesKey(parsed.partition), parsed);
  }
  return [...byPartition.values()];
}

/** Validates a map like org.apache.kafka.connect.storage.OffsetUtils#validateFormat. */
function flatMap(given: JsonObject | null): SourceCoordinates | null {
  if (given === null) return null;
  const coordinates: Record<string, SourceCoordinates[string]> = {};
  for (const [key, value] of given) {
    const field = javaText(key);
    if (value !== null && typeof value === 'object') {
      const kind = value instanceof Map ? 'MAP' : 'ARRAY';
      throw refused(`Offsets may only contain primitive types as values, but field ${field} contains ${kind}`);
    }
    if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) {
      throw refused(
        `Offsets may only contain primitive types as values, but field ${field} contains class java.math.BigInteger`,
      );
    }
    coordinates[field] = typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  return coordinates;
}

function unparsable(what: 'partition' | 'offset', value: ConnectValue): RequestError {
  const plural = what === 'partition' ? 'Partition' : 'Offset';
  return refused(
    `Failed to parse the following Kafka ${what} value in the provided offsets: '${javaText(value)}'. ${plural} values for sink connectors need to be integers.`,
  );
}

function refused(message: string): RequestError {
  return new RequestError(400, message);
}
