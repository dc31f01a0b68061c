import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { eventLoopWatch } from '../observe/event-loop-watch.ts';
import { LogLevels, type LogLevel } from '../observe/log-levels.ts';
import { relayedLogger } from '../observe/log-relay.ts';
import type { Logger } from '../observe/logger.ts';
import { rowMetrics } from '../observe/row-metrics.ts';
import { SecretMask } from '../observe/secret-mask.ts';
import { currentOwner, guardProcess, unhandledErrors } from '../observe/unhandled-errors.ts';
import { workPlaces } from '../observe/work-place.ts';
import { OWNER_SYMBOL } from './owner-question.ts';
import { ThreadBoard } from './thread-board.ts';
import { ThreadCalls } from './thread-calls.ts';
import type { ControlFunctions, ThreadData, ThreadFigures, ThreadFunctions } from './thread-protocol.ts';

const BEAT_MS = 100;
/** Clock ticks per second of `/proc`, the same on every Linux. */
const TICKS_PER_SECOND = 100;

export interface InsideThread<Functions extends ThreadFunctions, Control extends ControlFunctions> {
  readonly data: ThreadData;
  readonly calls: ThreadCalls<Functions, Control>;
  readonly board: ThreadBoard;
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

/** What a thread does first; it tells `ready` itself. `answer` makes what the thread answers beyond what all threads do. */
export function enterThread<Functions extends ThreadFunctions, Control extends ControlFunctions>(
  answer: (inside: InsideThread<Functions, Control>) => Omit<Functions, keyof ThreadFunctions>,
): InsideThread<Functions, Control> {
  if (parentPort === null) throw new Error('This module runs in a worker thread');
  const data = workerData as ThreadData;
  const port = parentPort;
  const board = new ThreadBoard(data.board);
  const beat = setInterval(() => {
    board.beat();
  }, BEAT_MS);
  beat.unref();
  workPlaces.share(data.places);
  const secrets = new SecretMask();
  for (const value of data.secrets) secrets.add(value);
  // The functions are filled in below: what they answer with needs the logger, and the logger needs the channel.
  const functions = {} as Functions;
  const calls = new ThreadCalls<Functions, Control>(port, functions);
  const tell = calls as unknown as ThreadCalls<Functions, ControlFunctions>;
  const logger = relayedLogger((line) => {
    tell.tell('log', line);
  });
  const levels = new LogLevels(logger, (name) => {
    tell.tell('loggerKnown', name);
  });
  for (const [name, level] of data.logLevels) levels.set(name, level);
  guardProcess(logger);
  eventLoopWatch.start(logger);
  (globalThis as Record<symbol, unknown>)[Symbol.for(OWNER_SYMBOL)] = () => currentOwner();
  const inside = { data, calls, board, secrets, logger };
  const common: ThreadFunctions = {
    figures,
    setLogLevel: (name: string, level: LogLevel) => {
      levels.set(name, level);
    },
    addSecret: (value: string) => {
      secrets.add(value);
    },
  };
  Object.assign(functions, answer(inside), common);
  return inside;
}

async function figures(): Promise<ThreadFigures> {
  return {
    cpuSeconds: cpuSeconds(),
    heapUsedBytes: process.memoryUsage().heapUsed,
    loopDelaySeconds: eventLoopWatch.longestSeconds(),
    unhandled: { ...unhandledErrors },
    rowMetrics: await rowMetrics.getMetricsAsJSON(),
  };
}

/** CPU time of this thread; 0 where the system does not say. Node has no call for it before version 23.9. */
function cpuSeconds(): number {
  try {
    // The name in parentheses may hold anything; the fields behind it count from the third.
    const [, fields = ''] = /^.*\)\s(.*)$/s.exec(readFileSync('/proc/thread-self/stat', 'latin1')) ?? [];
    const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
    return (user + system) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
