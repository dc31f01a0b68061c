import { parentPort, workerData } from 'node:worker_threads';
import { PARSER_PROPERTIES } from '../properties/parsers.ts';
import type { ParserOutcome, ParserTask } from './parsers.ts';

const { index, inputs, seed, progress } = workerData as ParserTask;
const began = performance.now();
let slowestMs = 0;
let failure: string | undefined;
try {
  PARSER_PROPERTIES[index]?.check({
    inputs,
    seed,
    onInput: (tookMs) => {
      slowestMs = Math.max(slowestMs, tookMs);
      Atomics.add(progress, 0, 1);
    },
  });
} catch (error) {
  failure = error instanceof Error ? `${error.message}\n${String(error.cause)}` : String(error);
}
parentPort?.postMessage({ failure, slowestMs, tookMs: performance.now() - began } satisfies ParserOutcome);
