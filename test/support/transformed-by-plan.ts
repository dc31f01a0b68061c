import assert from 'node:assert/strict';
import { StructPlan } from '../../src/connect/pipeline/struct-plan.ts';
import type { TransformationChain } from '../../src/connect/pipeline/transformation-chain.ts';
import type { MessageBlock } from '../../src/data/message-block.ts';
import type { SinkRecord } from '../../src/data/record.ts';
import type { Schema } from '../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../src/data/value.ts';

/**
 * Returns the record as the plan of the chain transforms it, with its value in the form that a block's reader returns.
 * Returns `undefined` if the plan leaves the record to `apply`.
 */
export function transformedByPlan(chain: TransformationChain, record: SinkRecord): SinkRecord | undefined {
  const { topic, partition, offset, timestamp, value, valueSchema } = record;
  if (!(value instanceof Struct) || valueSchema === null || !chain.isPlannable) return undefined;
  const program = chain.plan(new StructPlan(topic, valueSchema, record.headers.length > 0));
  const messages: MessageBlock = {
    topic,
    partition,
    bytes: Buffer.alloc(0),
    count: 1,
    offsets: [offset],
    timestamps: [timestamp ?? -1],
    valueStarts: [0],
    valueEnds: [0],
  };
  if (program?.run(asRead(value), messages, 0) !== true) return undefined;
  const key = program.key ?? { schema: record.keySchema, value: record.key };
  assertLike(program.values, program.struct());
  return {
    ...record,
    topic: program.topic,
    keySchema: key.schema,
    key: key.value,
    valueSchema: program.schema,
    value: program.struct(),
    headers: program.headers(record.headers),
  };
}

/** A reader returns an int64 as a number if a double represents it exactly. */
function asRead({ schema, values }: Struct): ConnectValue[] {
  return values.map((value, index) => narrow(schema.fields[index]?.schema, value));
}

function narrow(schema: Schema | undefined, value: ConnectValue): ConnectValue {
  if (schema?.type !== 'int64' || typeof value !== 'bigint') return value;
  const near = Number(value);
  return Number.isSafeInteger(near) ? near : value;
}

/** Asserts that a sink reads the same values from a block as from the struct. */
function assertLike(values: readonly ConnectValue[], { schema, values: stored }: Struct): void {
  assert.equal(values.length, stored.length);
  for (const [index, value] of values.entries()) {
    const isWide = schema.fields[index]?.schema.type === 'int64' && typeof value === 'number';
    assert.deepEqual(isWide ? BigInt(value) : value, stored[index]);
  }
}
