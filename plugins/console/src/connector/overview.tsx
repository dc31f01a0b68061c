import type { ConnectorStateAnswer, Health, WorkerFlow, WorkerHistory } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { isWritable } from '../common/fleet-store.ts';
import { useAction } from '../kit/action.ts';
import { usePolled } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/connector.ts';
import { Actions } from './actions.tsx';
import { FlowPicture } from './flow-picture.tsx';
import type { PartProps } from './health.ts';
import { HistoryCharts } from './history-charts.tsx';
import { SourceTables } from './source-tables.tsx';
import { TaskTable } from './task-table.tsx';

/** The data flow of a connector, its tasks, and its last hour. */
export function Overview({ name, health }: PartProps) {
  const { problem, run } = useAction();
  const path = connectorPath(name);
  const { value: status } = usePolled(name, () => request<ConnectorStateAnswer>('GET', `${path}/status`));
  const { value: history = [] } = usePolled(name, () => request<readonly WorkerHistory[]>('GET', `/ui${path}/history`));
  const { value: flow = [] } = usePolled(name, () => request<readonly WorkerFlow[]>('GET', `/ui${path}/flow`));
  const isSink = health.type === 'sink';
  return (
    <>
      <Reasons reasons={health.reasons} />
      {isWritable.value ? <Actions name={name} run={run} /> : null}
      <Problem text={problem} />
      {flow.length === 0 ? null : <FlowPicture workers={flow} isSink={isSink} />}
      <TaskTable health={health} status={status} name={name} run={run} />
      {health.type === 'source' ? <SourceTables name={name} workers={flow} /> : null}
      <h2>{texts.charts}</h2>
      <HistoryCharts workers={history} isSink={isSink} />
    </>
  );
}

/** All reasons of the verdict; the sentence above names only one. */
function Reasons({ reasons }: Pick<Health, 'reasons'>) {
  if (reasons.length < 2) return null;
  return (
    <details class="reasons">
      <summary>
        {texts.reasons} ({reasons.length})
      </summary>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </details>
  );
}
