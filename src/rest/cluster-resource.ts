import { taskText } from '../connect/tasks/task-assignment.ts';
import { RequestError } from '../errors.ts';
import type { ThreadName, ThreadView } from '../observe/thread-figures.ts';
import { answer, type Resource } from './resource.ts';

/** Beyond Connect: this worker's place in its group, and what the last rebalance was about. */
export const clusterResource: Resource = (router, { herder, threads }) => {
  router.get('/cluster', (context) => {
    const view = herder.cluster();
    if (view === undefined) throw new RequestError(404, 'A standalone worker is not part of a cluster.');
    const { lastRebalance: last } = view;
    answer(context, 200, {
      group: view.groupId,
      worker_id: view.workerId,
      leader_url: view.leaderUrl ?? null,
      is_leader: view.isLeader,
      generation: view.generation,
      protocol: view.protocol ?? null,
      rebalancing: view.rebalancing,
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
};

/** Which task is in which thread of this worker. A task that is starting is in none. */
function threadsView(views: readonly ThreadView[], places: ReadonlyMap<string, ThreadName>) {
  return views.map(({ thread, purpose, loopDelaySeconds }) => ({
    thread,
    purpose,
    tasks: [...places].flatMap(([task, place]) => (place === thread ? [task] : [])).sort(),
    event_loop_delay_seconds: Number(loopDelaySeconds.toFixed(3)),
  }));
}
