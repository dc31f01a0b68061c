import type { ConnectorStateAnswer, Health, Restart, TaskFigures } from '../common/answers.ts';
import { connectorPath } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { minutesText, short } from '../common/format.ts';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/connector.ts';
import { send, type ActionsProps } from './actions.tsx';
import { isSilent } from './health.ts';
import { Trace } from './trace.tsx';

interface TaskTableProps extends ActionsProps {
  readonly health: Health;
  readonly status: ConnectorStateAnswer | undefined;
}

/** Where each task runs, what it has, and its trace. */
export function TaskTable({ health, status, name, report }: TaskTableProps) {
  const restarts = new Map(health.restarts.map((restart) => [restart.task, restart]));
  const traces = new Map(status?.tasks.map(({ id, trace }) => [id, trace]));
  const isWritable = worker.value?.readOnly === false;
  const titles = [
    ...[texts.task, texts.state, texts.worker, texts.thread, texts.partitions, texts.lag, texts.waiting],
    health.type === 'sink' ? texts.lastPut : texts.lastDeliveredAck,
    texts.attempt,
    ...(isWritable ? [texts.actions] : []),
  ];
  return (
    <section class="tasks">
      <h2>{texts.tasks}</h2>
      {status?.connector.trace === undefined ? null : <Trace text={status.connector.trace} />}
      <TitledTable label={texts.tasks} titles={titles} numbers={[texts.lag, texts.waiting]}>
        {health.tasks.map((task) => (
          <tr key={task.task}>
            <th scope="row">{task.task}</th>
            <td>
              {isSilent(task) ? (
                <span class="problem">{texts.silentFor(minutesText(task.silentMs ?? 0))}</span>
              ) : (
                task.state
              )}
            </td>
            <td>{task.worker}</td>
            <td>{task.thread ?? '–'}</td>
            <td class="partitions">{partitionsText(task)}</td>
            <td class="number">{short(task.lag)}</td>
            <td class="number">{short(task.waiting)}</td>
            <td>
              {task.lastDeliveredAt === null ? '–' : new Date(task.lastDeliveredAt).toLocaleTimeString()}
              {task.lastPutMs === undefined ? '' : <span class="quiet took">{texts.took(task.lastPutMs)}</span>}
            </td>
            <td>{attemptText(restarts.get(task.task))}</td>
            {isWritable ? (
              <td>
                <button
                  type="button"
                  aria-label={texts.restartTask(task.task)}
                  onClick={() => void send('POST', `${connectorPath(name)}/tasks/${String(task.task)}/restart`, report)}
                >
                  {texts.restart}
                </button>
              </td>
            ) : null}
          </tr>
        ))}
      </TitledTable>
      {health.tasks.map(({ task }) => {
        const trace = traces.get(task);
        return trace === undefined ? null : <Trace key={task} task={task} text={trace} />;
      })}
    </section>
  );
}

function attemptText(restart: Restart | undefined): string {
  return restart === undefined || restart.attempt === 0 ? '–' : texts.attemptOf(restart.attempt, restart.maxAttempts);
}

const MAX_PARTITIONS = 6;

function partitionsText({ partitions }: TaskFigures): string {
  if (partitions.length === 0) return '–';
  const names = partitions.slice(0, MAX_PARTITIONS).map(({ topic, partition }) => `${topic}-${String(partition)}`);
  const rest = partitions.length - names.length;
  return rest === 0 ? names.join(', ') : `${names.join(', ')} +${String(rest)}`;
}
