import { totalmem } from 'node:os';
import type { Herder } from '../../herder/herder.ts';
import type { InternalTopics } from '../../herder/internal-topics.ts';
import type { PastRebalance } from '../../herder/group/placement.ts';
import type { ThreadName, ThreadView, WorkerThreads } from '../../observe/thread-figures.ts';
import { slowest } from '../../observe/thread-figures.ts';
import { SLUICE_VERSION } from '../../version.ts';
import { RequestError } from '../../errors.ts';
import { askerOf, type OtherWorkers } from '../workers/other-workers.ts';
import { validatorOf } from '../../json/validator.ts';
import { answer, flag, pathName, withinTimeLimit, type Route } from '../../rest/resource.ts';
import { CpuShare } from './cpu-share.ts';
import { INTERNAL_TOPICS, WORKER_DETAIL, type InternalTopicsAnswer, type WorkerDetail } from './console-answers.ts';

/** Maximum number of tasks that are named for each thread. */
const MAX_TASKS = 500;
const TOPICS_MS = 15_000;

/**
 * Checks the answer of another worker before it is sent to a browser.
 * @internal
 */
export const isWorkerDetail = validatorOf<WorkerDetail>(WORKER_DETAIL);

/**
 * `/ui/workers/{worker}`: the load and the rebalances of a worker, which any worker of the group can return.
 * `/ui/internal-topics`: the state of the internal topics.
 */
export function workerDetailResource(
  herder: Herder,
  threads: WorkerThreads,
  internalTopics: InternalTopics | undefined,
  others: OtherWorkers,
): readonly Route[] {
  const cpu = new CpuShare();

  const own = (): WorkerDetail => {
    const view = herder.cluster();
    const views = threads.views();
    return {
      worker: herder.workerId,
      version: SLUICE_VERSION,
      startedAt: herder.startedAtMs,
      memoryBytes: process.memoryUsage.rss(),
      memoryLimitBytes: memoryLimitBytes(),
      cpuCores: cpu.cores(),
      loopDelayMs: Math.round(slowest(views).loopDelaySeconds * 1000),
      isRebalancing: view?.rebalancing ?? false,
      threads: threadViews(views, herder.taskPlaces()),
      rebalances: (view?.rebalances ?? []).map(rebalanceView).reverse(),
    };
  };

  return [
    {
      method: 'GET',
      path: '/ui/workers/:worker',
      answers: { 200: WORKER_DETAIL },
      handle: async (context) => {
        const worker = pathName(context, 'worker');
        if (worker.toLowerCase() === herder.workerId.toLowerCase() || flag(context, 'local')) {
          answer(context, 200, own());
          return;
        }
        // A user of the console must not make this worker send requests to arbitrary hosts.
        const get = others.get(askerOf(context), true);
        try {
          const found = await get(worker, `/ui/workers/${encodeURIComponent(worker)}?local=true`);
          if (!isWorkerDetail(found)) throw new RequestError(503, `The answer of worker ${worker} is not valid`);
          answer(context, 200, found);
        } catch (error) {
          if (error instanceof RequestError) throw error;
          throw new RequestError(503, `Worker ${worker} does not answer`, { cause: error });
        }
      },
    },
    {
      method: 'GET',
      path: '/ui/internal-topics',
      answers: { 200: INTERNAL_TOPICS },
      handle: async (context) => {
        if (internalTopics === undefined) throw new RequestError(404, 'A standalone worker has no internal topics.');
        const view: InternalTopicsAnswer = await withinTimeLimit(herder.stage, internalTopics.view(), TOPICS_MS);
        answer(context, 200, view);
      },
    },
  ];
}

/** The limit of the control group, or the memory of the machine if there is no lower limit. */
function memoryLimitBytes(): number {
  const limit = process.constrainedMemory();
  const total = totalmem();
  // Without a limit, the value is 0 or larger than the memory.
  return limit > 0 && limit < total ? limit : total;
}

function threadViews(views: readonly ThreadView[], places: ReadonlyMap<string, ThreadName>): WorkerDetail['threads'] {
  const tasks = new Map<ThreadName, string[]>();
  for (const [task, thread] of places) tasks.set(thread, [...(tasks.get(thread) ?? []), task]);
  return views.map(({ thread, purpose, loopDelaySeconds }) => {
    const own = (tasks.get(thread) ?? []).sort();
    const loopDelayMs = Math.round(loopDelaySeconds * 1000);
    return { thread, purpose, loopDelayMs, taskCount: own.length, tasks: own.slice(0, MAX_TASKS) };
  });
}

function rebalanceView({ completedAtMs, ...rebalance }: PastRebalance): WorkerDetail['rebalances'][number] {
  return { at: completedAtMs, ...rebalance };
}
