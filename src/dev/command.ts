import { access, constants, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../async/within.ts';
import { ConfigError, toError } from '../errors.ts';
import { createLogger, type Logger } from '../observe/logger.ts';
import { guardProcess } from '../observe/unhandled-errors.ts';
import { stateFolder } from './addresses.ts';
import { LiveView } from './live-view.ts';
import { produceSampleData } from './sample-data.ts';
import { startStack, type Stack } from './stack.ts';
import { StackCounts, type Moved } from './stack-counts.ts';

export interface DevOptions {
  /** Folder of data and logs; `undefined`: `.sluice/dev` in the current folder. */
  readonly folder: string | undefined;
  readonly fresh: boolean;
  readonly json: boolean;
  readonly exitAfterMs: number | undefined;
  readonly bootstrapServers: string | undefined;
}

/** The files and folders in the data folder of a stack that `--fresh` removes. */
const STACK_FILES = ['kafka', 'kafka.log', 'kafka.properties', 'postgres', 'postgres.log', 'tls', 'worker.log'];
const REFRESH_MS = 1000;
/** Maximum wait until all tasks are assigned. The time of `--exit-after` starts then, or after this wait. */
const TASKS_START_MS = 60_000;
/** With `--exit-after`: time at the end for rows in flight to arrive before they are counted. */
const SETTLE_MS = 1500;
const LINGER_MS = 1000;
/** Maximum time for the producer of the sample data to end, because it may wait for an unreachable broker. */
const PRODUCER_END_MS = 3000;

/** Runs the local stack until it is interrupted or its time is up. Returns the exit code of `sluice dev`. */
export async function runDev(options: DevOptions): Promise<number> {
  const state = stateFolder(options.folder);
  const logFile = join(state, 'worker.log');
  const view = new LiveView({ quiet: options.json });
  const ending = new AbortController();
  const interrupt = () => {
    if (ending.signal.aborted) process.exit(130);
    view.note('Stopping; press Ctrl-C again to exit immediately');
    ending.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  let stack: Stack;
  let logger: Logger;
  try {
    const { fresh, bootstrapServers } = options;
    await prepareFolder(state, fresh);
    logger = await createLogger({ level: 'info', format: 'json', file: logFile });
    const onProgress = (message: string, passing?: boolean) => view.note(message, passing);
    stack = await startStack({ state, bootstrapServers, onProgress, signal: ending.signal, logger, logFile });
  } catch (error) {
    if (ending.signal.aborted) return 130;
    process.stderr.write(`sluice dev could not start: ${toError(error).message}\n`);
    return 3;
  }
  // From now on, unhandled errors are logged, as in other workers.
  process.removeAllListeners('unhandledRejection');
  guardProcess(logger);
  try {
    return await run(stack, view, ending, options);
  } catch (error) {
    logger.error({ err: error }, 'The stack stops');
    process.stderr.write(`sluice dev stops: ${toError(error).message}; see ${logFile}\n`);
    return 2;
  } finally {
    await stack.stop();
    view.note('Stopped; the next start continues with this data');
    // The process exits even if something still waits for an unreachable service.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }

  async function run(running: Stack, live: LiveView, end: AbortController, { exitAfterMs, json }: DevOptions) {
    const counts = new StackCounts(running);
    await counts.read();
    const data = new AbortController();
    const producing = produceSampleData(running, data.signal, logger);
    live.header(running, logFile);
    const startLimitMs = Date.now() + TASKS_START_MS;
    let isEnding = exitAfterMs === undefined;
    while (!end.signal.aborted) {
      await waitFor(REFRESH_MS, end.signal);
      if (end.signal.aborted) break;
      const moved = await counts.read();
      live.counts(moved);
      if (isEnding || (!haveStarted(moved) && Date.now() < startLimitMs)) continue;
      isEnding = true;
      setTimeout(() => end.abort(), exitAfterMs).unref();
    }
    data.abort();
    await within(producing, PRODUCER_END_MS);
    if (exitAfterMs !== undefined) await waitFor(SETTLE_MS);
    const result = await counts.read();
    await counts.close();
    if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
    else live.counts(result);
    const failed = result.connectors.some(({ state, tasks }) => [state, ...tasks].includes('FAILED'));
    const moved = result.sinkRows > 0 && result.sourceRecords > 0;
    return exitAfterMs === undefined || (moved && !failed && result.away.length === 0) ? 0 : 1;
  }
}

async function prepareFolder(state: string, fresh: boolean): Promise<void> {
  try {
    // The folder itself is not removed, because a folder that the user named may contain other files.
    const paths = fresh ? STACK_FILES.map((name) => join(state, name)) : [];
    for (const path of paths) await rm(path, { recursive: true, force: true });
    await mkdir(state, { recursive: true });
    await access(state, constants.W_OK);
  } catch (error) {
    throw new ConfigError(
      `its data cannot be kept in ${state} (${toError(error).message}). ` +
        'Start it in a folder of your own, or name one with --data FOLDER',
      { cause: error },
    );
  }
}

/** Whether each connector has tasks, and all of them are assigned. */
function haveStarted({ connectors }: Moved): boolean {
  return connectors.length > 0 && connectors.every(({ tasks }) => tasks.length > 0 && !tasks.includes('UNASSIGNED'));
}

/** Resolves early when the signal aborts. */
async function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
