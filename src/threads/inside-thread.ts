import { parentPort, workerData } from 'node:worker_threads';
import { toError } from '../errors.ts';
import { eventLoopWatch } from '../observe/event-loop-watch.ts';
import { LogLevels, type LogLevel } from '../observe/log-levels.ts';
import { relayedLogger } from '../observe/log-relay.ts';
import type { Logger } from '../observe/logger.ts';
import { SecretMask } from '../observe/secret-mask.ts';
import { ownFigures } from '../observe/thread-figures.ts';
import { currentOwner, guardProcess } from '../observe/unhandled-errors.ts';
import { workPlaces } from '../observe/work-place.ts';
import { OWNER_SYMBOL } from './owner-expression.ts';
import { BEAT_MS, ThreadBoard } from './thread-board.ts';
import { packError, ThreadCalls } from './thread-calls.ts';
import type { ControlFunctions, ThreadData, ThreadFunctions } from './thread-protocol.ts';

export interface InsideThread<Functions extends ThreadFunctions, Control extends ControlFunctions> {
  readonly data: ThreadData;
  readonly calls: ThreadCalls<Functions, Control>;
  readonly board: ThreadBoard;
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

/**
 * Sets up the current worker thread; see also `reportReady`. `answer` creates the functions that this thread provides in addition to
 * those of all threads.
 */
export function enterThread<Functions extends ThreadFunctions, Control extends ControlFunctions>(
  answer: (inside: InsideThread<Functions, Control>) => Omit<Functions, keyof ThreadFunctions>,
): InsideThread<Functions, Control> {
  if (parentPort === null) throw new Error('This module must run in a worker thread');
  const data = workerData as ThreadData;
  const port = parentPort;
  const board = new ThreadBoard(data.board);
  const beat = setInterval(() => {
    board.beat(eventLoopWatch.longestSeconds());
  }, BEAT_MS);
  beat.unref();
  workPlaces.share(data.places);
  const secrets = new SecretMask();
  for (const value of data.secrets) secrets.add(value);
  // The functions are added below, because they need the logger, and the logger needs the channel.
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
  for (const [connector, level] of data.connectorLogLevels) levels.setConnector(connector, level);
  guardProcess(logger);
  eventLoopWatch.start(logger, `thread ${String(data.thread)}`);
  (globalThis as Record<symbol, unknown>)[Symbol.for(OWNER_SYMBOL)] = () => currentOwner();
  const inside = { data, calls, board, secrets, logger };
  const common: ThreadFunctions = {
    figures: ownFigures,
    setLogLevel: (name: string, level: LogLevel) => {
      levels.set(name, level);
    },
    setConnectorLogLevel: (connector: string, level: LogLevel | undefined) => {
      levels.setConnector(connector, level);
    },
    addSecret: (value: string) => {
      secrets.add(value);
    },
  };
  Object.assign(functions, answer(inside), common);
  return inside;
}

/** Reports the thread as ready when `opening` resolves. If it rejects, the main thread terminates the thread with the error. */
export async function reportReady(
  calls: Pick<ThreadCalls<never, ControlFunctions>, 'tell'>,
  opening: Promise<unknown>,
): Promise<void> {
  try {
    await opening;
    calls.tell('ready');
  } catch (error) {
    calls.tell('failed', packError(toError(error)));
  }
}
