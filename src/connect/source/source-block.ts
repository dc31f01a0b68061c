import { PackedHeaders, PackedRecords } from '../../data/packed-records.ts';
import type { SourceRecord } from '../../data/record.ts';
import type { FailedRecord, JsonEncoding, OffsetUpdate, PolledRecord, SourceBlock } from '../api.ts';
import type { Converters } from '../pipeline/record-converter.ts';

/** One element of the list that a poll returns. */
export type PolledPart = PolledRecord | SourceBlock;

/** One polled record, which the source may have failed to create. */
export type SinglePart = SourceRecord | FailedRecord;

export function isBlock(part: PolledPart): part is SourceBlock {
  return 'packed' in part && part.packed instanceof PackedRecords;
}

export function isOffsetUpdate(part: PolledPart): part is OffsetUpdate {
  return !('topic' in part) && !isBlock(part);
}

export function isFailed(part: PolledPart): part is FailedRecord {
  return 'error' in part && part.error instanceof Error;
}

export function isRecord(part: PolledPart): part is SourceRecord {
  return !isBlock(part) && !isOffsetUpdate(part) && !isFailed(part);
}

export function isSingle(part: PolledPart): part is SinglePart {
  return isRecord(part) || isFailed(part);
}

/** The number of records of a part. */
export function recordsIn(part: PolledPart): number {
  if (isBlock(part)) return part.packed.length;
  return isOffsetUpdate(part) ? 0 : 1;
}

/**
 * Describes how the converters write JSON. Returns `undefined` if the key or the value converter does not write JSON without
 * schemas.
 */
export function jsonEncoding({ key, value, header }: Converters): JsonEncoding | undefined {
  if (key.writesPlainJson !== true || value.writesPlainJson !== true) return undefined;
  return {
    key: (topic, schema, data) => key.fromConnectData(topic, schema, data) ?? NO_BYTES,
    value: (topic, schema, data) => value.fromConnectData(topic, schema, data) ?? NO_BYTES,
    headers: (topic, headers) =>
      new PackedHeaders(
        headers.map((each) => ({
          key: each.key,
          value: header.fromConnectHeader(topic, each.key, each.schema, each.value),
        })),
      ),
  };
}

const NO_BYTES = new Uint8Array();

/** Returns true if these converters would convert the records of a block to the same bytes. */
export function passesBlock({ packed, keySchema, valueSchema }: SourceBlock, { key, value }: Converters): boolean {
  if (value.passesText?.(valueSchema) !== true) return false;
  return packed.hasKeys ? key.passesText?.(keySchema) === true : passesNoKey(packed.topic, key);
}

function passesNoKey(topic: string, key: Converters['key']): boolean {
  if (key.prepareFromConnectData !== undefined) return false;
  try {
    return key.fromConnectData(topic, null, null) === null;
  } catch {
    // The records are then converted one by one. This fails as well, and the error policy handles the failure.
    return false;
  }
}

/** Returns the records of a block. Only the last one has the offset after the block. */
export function recordsOfBlock(block: SourceBlock): SourceRecord[] {
  const { packed, keySchema, valueSchema, sourcePartition, offsetBefore, offsetAfter } = block;
  return packed.entries().map(({ key, value }, index) => ({
    topic: packed.topic,
    partition: null,
    keySchema: key === null ? null : keySchema,
    key: key === null ? null : key.toString('utf8'),
    valueSchema,
    value: value.toString('utf8'),
    timestamp: null,
    headers: [],
    sourcePartition,
    sourceOffset: index === packed.length - 1 ? offsetAfter : offsetBefore,
  }));
}
