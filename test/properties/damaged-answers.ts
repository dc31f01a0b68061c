import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MalformedResponseError } from '../../src/kafka/errors/kafka-errors.ts';
import type { RecordedAnswer } from '../support/broker-answers.ts';

/** Bytes that an attacker would write into lengths and counts. */
const HOSTILE = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff];
/** An answer has a few kB; what decodes it makes no more than this of it, and takes no longer. */
const MAX_ENTRIES = 100_000;
const MAX_INPUT_MS = 1_000;

/** Real answers with bytes changed, added or removed: decoding is an error that says what is damaged, or a bounded answer. */
export async function damagedAnswers(
  answers: readonly RecordedAnswer[],
  { inputs, seed }: { readonly inputs: number; readonly seed?: number },
): Promise<void> {
  const byte = fc.oneof(fc.constantFrom(...HOSTILE), fc.nat(255));
  const damage = fc.record({
    answer: fc.constantFrom(...answers),
    flips: fc.array(fc.tuple(fc.nat(), byte), { maxLength: 3 }),
    run: fc.option(fc.tuple(fc.nat(), byte, fc.integer({ min: 2, max: 8 }))),
    cut: fc.option(fc.nat(), { freq: 8 }),
  });
  const holds = fc.asyncProperty(damage, async ({ answer, flips, run, cut }) => {
    let payload = Buffer.from(answer.payload);
    const { length } = payload;
    if (length === 0) return;
    for (const [at, value] of flips) payload[at % length] = value;
    if (run !== null)
      payload
        .subarray(run[0] % length)
        .subarray(0, run[2])
        .fill(run[1]);
    if (cut !== null) payload = payload.subarray(0, cut % length);
    const began = performance.now();
    try {
      assert.ok(entriesOf(await answer.decode(payload)) <= MAX_ENTRIES);
    } catch (error) {
      const isOurs = error instanceof MalformedResponseError && error.message.length > 0;
      if (!isOurs && (error as Error).name !== 'KafkaJSProtocolError') throw error;
    }
    assert.ok(performance.now() - began < MAX_INPUT_MS, `${answer.name} took too long`);
  });
  await fc.assert(holds, seed === undefined ? { numRuns: inputs } : { numRuns: inputs, seed });
}

function entriesOf(value: unknown): number {
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return 1;
  let count = 1;
  for (const entry of Object.values(value)) count += entriesOf(entry);
  return count;
}
