import type { Herder } from '../../herder/herder.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConnectorHealth } from '../health/connector-health.ts';
import { connectorFlow } from '../fleet/connector-flow.ts';
import { WORKER_FLOW, type WorkerFlow } from '../fleet/fleet-answers.ts';
import { askerOf, type OtherWorkers } from '../workers/other-workers.ts';
import { anyOf, arrayOf } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import { answer, flag, pathName, type Route } from '../../rest/resource.ts';

const MAX_AGE_MS = 1000;
const isFlow = validatorOf<WorkerFlow>(WORKER_FLOW);

/**
 * `/ui/connectors/{connector}/flow`: the figures of each stage of a connector, from each worker that has its tasks or,
 * for a sink that does not read, its lag.
 */
export function connectorFlowResource(
  herder: Herder,
  health: ConnectorHealth,
  secrets: SecretMask,
  others: OtherWorkers,
): readonly Route[] {
  let last: { readonly at: number; readonly reports: ReturnType<typeof herder.taskReports> } | undefined;

  /** Reports of the tasks, at most one second old, so that several consoles share one request to the threads. */
  const reportsNow = (): ReturnType<typeof herder.taskReports> => {
    const at = performance.now();
    if (last === undefined || at - last.at > MAX_AGE_MS) last = { at, reports: herder.taskReports() };
    return last.reports;
  };

  return [
    {
      method: 'GET',
      path: '/ui/connectors/:connector/flow',
      answers: { 200: anyOf(arrayOf(WORKER_FLOW), WORKER_FLOW) },
      handle: async (context) => {
        const connector = pathName(context, 'connector');
        herder.directory.require(connector);
        const reports = (await reportsNow()).filter(({ id }) => id.connector === connector);
        const flow = connectorFlow(reports, health.committedLags.of(connector));
        const parts = flow.parts.map((part) => ({
          ...part,
          error: part.error === undefined ? undefined : secrets.hide(part.error),
        }));
        const own: WorkerFlow = { worker: herder.workerId, ...flow, parts };
        if (flag(context, 'local')) {
          answer(context, 200, own);
          return;
        }
        const workers = health.workers(connector).filter((worker) => worker !== herder.workerId);
        const get = others.get(askerOf(context));
        const path = `/ui/connectors/${encodeURIComponent(connector)}/flow?local=true`;
        const found = await Promise.all(workers.map((worker) => get(worker, path).catch(() => undefined)));
        const flows: readonly WorkerFlow[] = [
          ...(own.tasks === 0 && own.topics.length === 0 ? [] : [own]),
          ...found.filter((each) => isFlow(each)),
        ];
        answer(context, 200, flows);
      },
    },
  ];
}
