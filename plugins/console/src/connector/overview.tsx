import { useState } from 'preact/hooks';
import type { ConnectorStateAnswer, WorkerFlow, WorkerHistory } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { usePolled } from '../common/polled.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/connector.ts';
import { Actions } from './actions.tsx';
import { FlowPicture } from './flow-picture.tsx';
import type { PartProps } from './health.ts';
import { HistoryCharts } from './history-charts.tsx';
import { SourceTables } from './source-tables.tsx';
import { TaskTable } from './task-table.tsx';

/** What a connector does, its tasks and its last hour. */
export function Overview({ name, health }: PartProps) {
  const [problem, setProblem] = useState('');
  const { value: status } = usePolled(name, () =>
    request<ConnectorStateAnswer>('GET', `${connectorPath(name)}/status`),
  );
  const { value: history } = usePolled(name, () =>
    request<readonly WorkerHistory[]>('GET', `/ui${connectorPath(name)}/history`),
  );
  const { value: flow = [] } = usePolled(name, () =>
    request<readonly WorkerFlow[]>('GET', `/ui${connectorPath(name)}/flow`),
  );
  return (
    <>
      {health.reasons.length < 2 ? null : (
        <details class="reasons">
          <summary>
            {texts.reasons} ({health.reasons.length})
          </summary>
          <ul>
            {health.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </details>
      )}
      {worker.value?.readOnly === false ? <Actions name={name} report={setProblem} /> : null}
      <Problem text={problem} />
      {flow.length === 0 ? null : <FlowPicture workers={flow} isSink={health.type === 'sink'} />}
      <TaskTable health={health} status={status} name={name} report={setProblem} />
      {health.type === 'source' ? <SourceTables name={name} workers={flow} /> : null}
      <h2>{texts.charts}</h2>
      <HistoryCharts workers={history ?? []} isSink={health.type === 'sink'} />
    </>
  );
}
