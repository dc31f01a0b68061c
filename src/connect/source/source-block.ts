import { PackedRecords } from '../../data/packed-records.ts';
import type { SourceRecord } from '../../data/record.ts';
import type { SourceBlock } from '../api.ts';
import type { Converters } from '../pipeline/record-converter.ts';

/** A record or a block that a poll returns. */
export type PolledPart = SourceRecord | SourceBlock;

export function isBlock(part: PolledPart): part is SourceBlock {
  return 'packed' in part && part.packed instanceof PackedRecords;
}

/** Whether these converters would convert the records of a block to the same bytes. */
export function passesBlock({ packed, keySchema, valueSchema }: SourceBlock, { key, value }: Converters): boolean {
  if (value.passesText?.(valueSchema) !== true) return false;
  return packed.hasKeys ? key.passesText?.(keySchema) === true : passesNoKey(packed.topic, key);
}

function passesNoKey(topic: string, key: Converters['key']): boolean {
  if (key.prepareFromConnectData !== undefined) return false;
  try {
    return key.fromConnectData(topic, null, null) === null;
  } catch {
    // The error policy decides, record by record.
    return false;
  }
}

/** The records of a block; the last one has the offset after it. */
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
