import { taskText } from '../../connect/tasks/task-assignment.ts';
import { RequestError } from '../../errors.ts';
import type { DrainedWorker, WorkerDrains } from './worker-drains.ts';
import type { ThreadName, ThreadView } from '../../observe/thread-figures.ts';
import { parseDrain } from './drain-body.ts';
import { readBytes } from '../../rest/request-body.ts';
import { answer, pathName, type Context, type Resource } from '../../rest/resource.ts';

const STANDALONE = 'A standalone worker is not part of a cluster.';

/** Beyond Connect: this worker's place in its group, and what the last rebalance was about. */
export const clusterResource: Resource = (router, { herder, threads, drains }) => {
  router.get('/cluster', (context) => {
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
  });

  const drainsOfGroup = (): WorkerDrains => {
    if (drains === undefined) throw new RequestError(404, STANDALONE);
    return drains;
  };

  router.get('/cluster/workers', (context) => {
    const leaderId = herder.cluster()?.workerId;
    answer(
      context,
      200,
      drainsOfGroup()
        .workers()
        .map((worker) => workerView(worker, leaderId)),
    );
  });

  const drain = async (context: Context, isDraining: boolean): Promise<void> => {
    const worker = await drainsOfGroup().drain(pathName(context, 'worker'), isDraining);
    answer(context, 202, workerView(worker, herder.cluster()?.workerId));
  };

  router.put('/cluster/workers/:worker/drain', async (context) => {
    await drain(context, parseDrain((await readBytes(context.req)).toString()));
  });

  router.delete('/cluster/workers/:worker/drain', async (context) => {
    await drain(context, false);
  });
};

/** The leader answers, so its id is this worker's. */
function workerView({ workerId, url, state, connectors, tasks }: DrainedWorker, leaderId: string | undefined) {
  return { worker_id: workerId, url, is_leader: workerId === leaderId, state, connectors, tasks };
}

/** Which task is in which thread of this worker. A task that is starting is in none. */
function threadsView(views: readonly ThreadView[], places: ReadonlyMap<string, ThreadName>) {
  return views.map(({ thread, purpose, loopDelaySeconds }) => ({
    thread,
    purpose,
    tasks: [...places].flatMap(([task, place]) => (place === thread ? [task] : [])).sort(),
    event_loop_delay_seconds: Number(loopDelaySeconds.toFixed(3)),
  }));
}
