import { parentPort, workerData } from 'node:worker_threads';
import { PARSER_FORMATS } from '../properties/parsers.ts';
import type { ParserOutcome, ParserTask } from './parsers.ts';

/**
 * Number of inputs for a promise before the next promise is tried, if the duration is given instead of the number of
 * inputs.
 */
const ROUND = 500;

const { format, inputs, minutes, seed, progress } = workerData as ParserTask;
const outcomes: { title: string; inputs: number; tookMs: number; slowestMs: number; failure: string | undefined }[] =
  [];
const began = performance.now();
const properties = PARSER_FORMATS.get(format) ?? [];
for (const { title } of properties) outcomes.push({ title, inputs: 0, tookMs: 0, slowestMs: 0, failure: undefined });

for (let round = 0; ; round++) {
  for (const [index, { check }] of properties.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined || outcome.failure !== undefined) continue;
    Atomics.store(progress, 1, index);
    const start = performance.now();
    try {
      check({
        inputs: minutes === undefined ? inputs : ROUND,
        seed: (seed + round) | 0,
        onInput: (tookMs) => {
          outcome.slowestMs = Math.max(outcome.slowestMs, tookMs);
          outcome.inputs += 1;
          Atomics.add(progress, 0, 1);
        },
      });
    } catch (error) {
      outcome.failure = error instanceof Error ? `${error.message}\n${String(error.cause)}` : String(error);
    }
    outcome.tookMs += performance.now() - start;
  }
  const isOver = minutes === undefined || performance.now() - began >= minutes * 60_000;
  if (isOver || outcomes.every(({ failure }) => failure !== undefined)) break;
}
parentPort?.postMessage(outcomes satisfies readonly ParserOutcome[]);
