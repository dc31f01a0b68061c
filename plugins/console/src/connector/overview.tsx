import type {
  ConnectorChangeAnswer,
  ConnectorStateAnswer,
  Health,
  WorkerFlow,
  WorkerHistory,
} from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { useAction } from '../kit/action.ts';
import { useLoaded, usePolled } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/connector.ts';
import { chartEvents } from './chart-events.ts';
import { FlowPicture } from './flow-picture.tsx';
import type { PartProps } from './health.ts';
import { HistoryCharts } from './history-charts.tsx';
import { SourceTables } from './source-tables.tsx';
import { TaskTable } from './task-table.tsx';

const EVENTS_MS = 15_000;

/** Shows the data flow of a connector, its tasks, and charts of the last hour. */
export function Overview({ name, health }: PartProps) {
  const { problem, run } = useAction();
  const path = connectorPath(name);
  const { value: status } = usePolled(name, () => request<ConnectorStateAnswer>('GET', `${path}/status`));
  const { value: history = [] } = usePolled(name, () => request<readonly WorkerHistory[]>('GET', `/ui${path}/history`));
  const { value: flow = [] } = usePolled(name, () => request<readonly WorkerFlow[]>('GET', `/ui${path}/flow`));
  const changes = useLoaded(
    `changes of ${name}`,
    () => request<readonly ConnectorChangeAnswer[]>('GET', `${path}/history`),
    { everyMs: () => EVENTS_MS },
  );
  const isSink = health.type === 'sink';
  const events = chartEvents(changes.value ?? [], health.verdicts);
  return (
    <>
      <Reasons reasons={health.reasons} verdict={health.verdict} />
      <Problem text={problem} />
      {flow.length === 0 ? null : <FlowPicture name={name} workers={flow} isSink={isSink} />}
      <TaskTable health={health} status={status} name={name} run={run} />
      {health.type === 'source' ? <SourceTables name={name} workers={flow} /> : null}
      <h2>{texts.charts}</h2>
      <HistoryCharts workers={history} events={events} isSink={isSink} />
    </>
  );
}

/**
 * Shows the reasons for a verdict. For RUNNING, these are hints, which are always visible. For other verdicts, they are
 * in a fold, and only if there are several, because the sentence above contains one.
 */
function Reasons({ reasons, verdict }: Pick<Health, 'reasons' | 'verdict'>) {
  const list = (
    <ul>
      {reasons.map((reason) => (
        <li key={reason}>{reason}</li>
      ))}
    </ul>
  );
  if (verdict === 'RUNNING') return reasons.length === 0 ? null : <div class="reasons warning">{list}</div>;
  if (reasons.length < 2) return null;
  return (
    <details class="reasons">
      <summary>
        {texts.reasons} ({reasons.length})
      </summary>
      {list}
    </details>
  );
}
