import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { javaText } from '../java/java-text.ts';
import type { ConnectRecord, SinkRecord, SourceCoordinates, SourceRecord } from '../data/record.ts';
import { schemaText } from '../data/schema.ts';

/** The text of a record in Connect's messages (`toString` of ConnectRecord and its subclasses). */
export function recordText(record: ConnectRecord): string {
  return `${originText(record)} ConnectRecord{topic='${record.topic}', kafkaPartition=${String(record.partition)}, key=${javaText(record.key, record.keySchema)}, keySchema=${schemaText(record.keySchema)}, value=${javaText(record.value, record.valueSchema)}, valueSchema=${schemaText(record.valueSchema)}, timestamp=${String(record.timestamp)}, headers=ConnectHeaders(headers=${headersText(record)})}`;
}

function originText(record: ConnectRecord): string {
  if ('offset' in record) {
    const { offset, timestampType, original } = record as SinkRecord;
    return `SinkRecord{kafkaOffset=${String(offset)}, timestampType=${timestampType}, originalTopic=${original.topic}, originalKafkaPartition=${String(original.partition)}, originalKafkaOffset=${String(original.offset)}}`;
  }
  const { sourcePartition, sourceOffset } = record as SourceRecord;
  return `SourceRecord{sourcePartition=${coordinatesText(sourcePartition)}, sourceOffset=${coordinatesText(sourceOffset)}}`;
}

function coordinatesText(coordinates: SourceCoordinates): string {
  const entries = javaHashMapOrder(Object.keys(coordinates)).map((key) => `${key}=${String(coordinates[key])}`);
  return `{${entries.join(', ')}}`;
}

function headersText({ headers }: ConnectRecord): string {
  if (headers.length === 0) return '';
  const texts = headers.map(
    ({ key, schema, value }) =>
      `ConnectHeader(key=${key}, value=${javaText(value, schema)}, schema=${schemaText(schema)})`,
  );
  return `[${texts.join(', ')}]`;
}
