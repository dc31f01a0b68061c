import type { Herder } from '../../herder/herder.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConnectorHealth } from '../health/connector-health.ts';
import { connectorFlow, type ConnectorFlow } from '../fleet/connector-flow.ts';
import { askerOf, type OtherWorkers } from '../workers/other-workers.ts';
import { ajv } from '../../rest/request-body.ts';
import { answer, flag, pathName, type Route } from '../../rest/resource.ts';

const MAX_AGE_MS = 1000;
const nullableNumber = { type: ['number', 'null'] };
const named = (properties: object) => ({
  type: 'array',
  maxItems: 1000,
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, ...properties },
    required: ['name', ...Object.keys(properties)],
  },
});

const isFlow = ajv.compile<ConnectorFlow & { readonly worker: string }>({
  type: 'object',
  properties: {
    worker: { type: 'string' },
    type: { type: 'string' },
    tasks: { type: 'integer' },
    readRate: { type: 'number' },
    sentRate: { type: 'number' },
    deliveredRate: { type: 'number' },
    taskMicroseconds: nullableNumber,
    stages: named({
      className: { type: 'string' },
      samples: { type: 'integer' },
      microseconds: { type: 'number' },
      passed: { type: 'number' },
      errors: { type: 'integer' },
    }),
    areStagesInPut: { type: 'boolean' },
    errors: { type: 'integer' },
    topics: named({ partitions: { type: 'integer' }, lag: nullableNumber }),
    tables: named({ rows: { type: 'number' } }),
    writeMicroseconds: nullableNumber,
    parts: named({ state: { type: 'string' }, counts: { type: 'object' } }),
  },
  required: ['worker', 'type', 'tasks', 'readRate', 'sentRate', 'stages', 'errors', 'topics', 'tables', 'parts'],
});

/** `/ui/connectors/{connector}/flow`: what each stage of a connector does, on each worker that has tasks of it. */
export function connectorFlowResource(
  herder: Herder,
  health: ConnectorHealth,
  secrets: SecretMask,
  others: OtherWorkers,
): readonly Route[] {
  let last: { readonly at: number; readonly reports: ReturnType<typeof herder.taskReports> } | undefined;

  /** Consoles that ask within a second get one answer of the threads. */
  const reportsNow = (): ReturnType<typeof herder.taskReports> => {
    const at = performance.now();
    if (last === undefined || at - last.at > MAX_AGE_MS) last = { at, reports: herder.taskReports() };
    return last.reports;
  };

  return [
    {
      method: 'GET',
      path: '/ui/connectors/:connector/flow',
      handle: async (context) => {
        const connector = pathName(context, 'connector');
        herder.directory.require(connector);
        const reports = (await reportsNow()).filter(({ id }) => id.connector === connector);
        const flow = connectorFlow(reports, health.committedLags.of(connector));
        const parts = flow.parts.map((part) => ({
          ...part,
          error: part.error === undefined ? undefined : secrets.hide(part.error),
        }));
        const own = { worker: herder.workerId, ...flow, parts };
        if (flag(context, 'local')) {
          answer(context, 200, own);
          return;
        }
        const workers = health.workers(connector).filter((worker) => worker !== herder.workerId);
        const get = others.get(askerOf(context));
        const path = `/ui/connectors/${encodeURIComponent(connector)}/flow?local=true`;
        const found = await Promise.all(workers.map((worker) => get(worker, path).catch(() => undefined)));
        const flows = [
          ...(own.tasks === 0 && own.topics.length === 0 ? [] : [own]),
          ...found.filter((each) => isFlow(each)),
        ];
        answer(context, 200, flows);
      },
    },
  ];
}
