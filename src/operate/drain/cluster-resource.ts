import type { Herder } from '../../herder/herder.ts';
import { arrayOf } from '../../json/open-api.ts';
import { SMALL_BODY_BYTES, type SignedBodies } from '../../rest/internal-resource.ts';
import { CLUSTER, GROUP_WORKER, type GroupWorkerAnswer } from './cluster-answers.ts';
import { taskText } from '../../connect/task-assignment.ts';
import { RequestError } from '../../errors.ts';
import type { DrainedWorker, WorkerDrains } from './worker-drains.ts';
import type { ThreadName, ThreadView, WorkerThreads } from '../../observe/thread-figures.ts';
import { DRAIN_BODY, DRAIN_ORDER_BODY, parseDrain, parseDrainOrder } from './drain-body.ts';
import { readBytes } from '../../rest/request-body.ts';
import { answer, answerEmpty, pathName, type Context, type Route } from '../../rest/resource.ts';

const STANDALONE = 'A standalone worker is not part of a cluster.';

/** `/cluster`, which Connect does not have: the workers of the group, the last rebalance, and draining. */
export function clusterResource(
  herder: Herder,
  threads: WorkerThreads,
  drains: WorkerDrains | undefined,
  signed: SignedBodies,
): readonly Route[] {
  const drainsOfGroup = (): WorkerDrains => {
    if (drains === undefined) throw new RequestError(404, STANDALONE);
    return drains;
  };

  const drain = async (context: Context, isDraining: boolean): Promise<void> => {
    const worker = await drainsOfGroup().drain(pathName(context, 'worker'), isDraining);
    answer(context, 202, workerView(worker, herder.cluster()?.workerId));
  };

  return [
    {
      method: 'GET',
      path: '/cluster',
      summary: 'The state of this worker in its group, and the last rebalance; 404 for a standalone worker',
      tag: 'worker',
      answers: { 200: CLUSTER },
      handle: (context) => {
        const view = herder.cluster();
        if (view === undefined) throw new RequestError(404, STANDALONE);
        const { lastRebalance: last } = view;
        answer(context, 200, {
          group: view.groupId,
          worker_id: view.workerId,
          leader_url: view.leaderUrl ?? null,
          is_leader: view.isLeader,
          generation: view.generation,
          protocol: view.protocol ?? null,
          rebalancing: view.rebalancing,
          draining: view.draining,
          connectors: view.connectors,
          tasks: view.tasks.map(taskText),
          threads: threadsView(threads.views(), herder.taskPlaces()),
          completed_rebalances: view.completedRebalances,
          last_rebalance: last && {
            reason: last.reason,
            completed_at: new Date(last.completedAtMs).toISOString(),
            duration_ms: last.durationMs,
            assigned: last.assigned,
            revoked: last.revoked,
            delay_ms: last.delayMs,
          },
        });
      },
    },
    {
      method: 'GET',
      path: '/cluster/workers',
      summary:
        'For each worker of the group: its state, and the number of its connectors and tasks, which decreases during a drain',
      tag: 'worker',
      answers: { 200: arrayOf(GROUP_WORKER) },
      handle: (context) => {
        const leaderId = herder.cluster()?.workerId;
        answer(
          context,
          200,
          drainsOfGroup()
            .workers()
            .map((worker) => workerView(worker, leaderId)),
        );
      },
    },
    {
      method: 'PUT',
      path: '/cluster/workers/:worker/drain',
      summary:
        'Drain a worker: its work moves to the others; `{"drain": false}` ends the drain. 409 for the last worker that takes work',
      tag: 'worker',
      body: DRAIN_BODY,
      answers: { 202: GROUP_WORKER },
      handle: async (context) => {
        await drain(context, parseDrain((await readBytes(context.req)).toString()));
      },
    },
    {
      method: 'DELETE',
      path: '/cluster/workers/:worker/drain',
      summary: 'End the drain of a worker, so that it takes work again',
      tag: 'worker',
      answers: { 202: GROUP_WORKER },
      handle: async (context) => {
        await drain(context, false);
      },
    },
    {
      method: 'PUT',
      path: '/cluster/drain',
      summary: 'Drain this worker, or end its drain; sent by the leader',
      tag: 'between workers',
      body: DRAIN_ORDER_BODY,
      answers: { 204: null },
      handle: async (context) => {
        const order = parseDrainOrder(await signed.read(context, 'draining workers', SMALL_BODY_BYTES));
        drains?.onOrder(order);
        answerEmpty(context, 204);
      },
    },
  ];
}

/** `leaderId`: the id of this worker, because only the leader answers. */
function workerView(
  { workerId, url, state, connectors, tasks }: DrainedWorker,
  leaderId: string | undefined,
): GroupWorkerAnswer {
  return { worker_id: workerId, url, is_leader: workerId === leaderId, state, connectors, tasks };
}

/** The threads of this worker, each with its tasks. A task that waits for a thread is left out. */
function threadsView(views: readonly ThreadView[], places: ReadonlyMap<string, ThreadName>) {
  return views.map(({ thread, purpose, loopDelaySeconds }) => ({
    thread,
    purpose,
    tasks: [...places].flatMap(([task, place]) => (place === thread ? [task] : [])).sort(),
    event_loop_delay_seconds: Number(loopDelaySeconds.toFixed(3)),
  }));
}
