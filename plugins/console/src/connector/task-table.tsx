import { useState } from 'preact/hooks';
import type { ConnectorStateAnswer, Health, Restart, TaskFigures } from '../common/answers.ts';
import { connectorPath } from '../common/api.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { isWritable } from '../common/fleet-store.ts';
import { minutesText, short } from '../common/format.ts';
import { Button } from '../kit/button.tsx';
import { SelectField } from '../kit/field.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { texts } from '../texts/connector.ts';
import { send, type ActionsProps } from './actions.tsx';
import { isSilent } from './health.ts';

/** If there are more tasks, and they differ in their states, a filter by state is shown. */
const MANY_TASKS = 8;

interface TaskTableProps extends ActionsProps {
  readonly health: Health;
  readonly status: ConnectorStateAnswer | undefined;
}

/** Shows the worker, the figures and the stack trace of each task. */
export function TaskTable({ health, status, name, run }: TaskTableProps) {
  const restarts = new Map(health.restarts.map((restart) => [restart.task, restart]));
  const traces = new Map(status?.tasks.map(({ id, trace }) => [id, trace]));
  const [state, setState] = useState('');
  const states = [...new Set(health.tasks.map((task) => task.state))];
  const shown = health.tasks.filter((task) => state === '' || task.state === state);
  const maxLag = Math.max(1, ...health.tasks.map(({ lag }) => lag ?? 0));
  const titles = [
    ...[texts.task, texts.state, texts.worker, texts.thread, texts.partitions, texts.lag, texts.waiting],
    health.type === 'sink' ? texts.lastPut : texts.lastDeliveredAck,
    texts.attempt,
    ...(isWritable.value ? [texts.actions] : []),
  ];
  return (
    <section class="tasks">
      <h2>{texts.tasks}</h2>
      {status?.connector.trace === undefined ? null : <Trace text={status.connector.trace} />}
      {health.tasks.length > MANY_TASKS && states.length > 1 ? (
        <div class="filters">
          <SelectField label={texts.state} value={state} none={texts.anyState} options={states} onChange={setState} />
        </div>
      ) : null}
      <Table label={texts.tasks} titles={titles} numbers={[texts.lag, texts.waiting]}>
        {shown.map((task) => (
          <TaskRow
            key={task.task}
            name={name}
            task={task}
            maxLag={health.tasks.length > 1 ? maxLag : undefined}
            restart={restarts.get(task.task)}
            run={run}
          />
        ))}
      </Table>
      {health.tasks.map(({ task }) => {
        const trace = traces.get(task);
        return trace === undefined ? null : <Trace key={task} task={task} text={trace} />;
      })}
    </section>
  );
}

interface TaskRowProps extends ActionsProps {
  readonly task: TaskFigures;
  /** The largest lag of all tasks, which gets the longest bar; `undefined`: no bars are shown. */
  readonly maxLag: number | undefined;
  readonly restart: Restart | undefined;
}

function TaskRow({ name, task, maxLag, restart, run }: TaskRowProps) {
  const { task: id, state, worker, thread, lag, waiting, lastDeliveredAt, lastPutMs, silentMs = 0 } = task;
  return (
    <tr>
      <th scope="row">{id}</th>
      <td>{isSilent(task) ? <span class="problem">{texts.silentFor(minutesText(silentMs))}</span> : state}</td>
      <td>{worker}</td>
      <td>{thread ?? '–'}</td>
      <td class="partitions">{partitionsText(task)}</td>
      <td class="number">
        {short(lag)}
        {maxLag === undefined || lag === null || lag === 0 ? null : (
          <span class="bar" style={{ width: `${String(Math.round((lag / maxLag) * 100))}%` }} />
        )}
      </td>
      <td class="number">{short(waiting)}</td>
      <td>
        {lastDeliveredAt === null ? '–' : <Time at={lastDeliveredAt} />}
        {lastPutMs === undefined ? '' : <span class="quiet took">{texts.took(lastPutMs)}</span>}
      </td>
      <td>{attemptText(restart)}</td>
      {isWritable.value ? (
        <td>
          <Button
            aria-label={texts.restartTask(id)}
            onClick={() => run(() => send('POST', `${connectorPath(name)}/tasks/${String(id)}/restart`))}
          >
            {texts.restart}
          </Button>
        </td>
      ) : null}
    </tr>
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

/** A stack trace in a fold, with a button that copies it unchanged. */
function Trace({ text, task }: { readonly text: string; readonly task?: number }) {
  const [line = ''] = text.split('\n', 1);
  return (
    <details class="trace">
      <summary>
        {texts.trace}
        {task === undefined ? '' : ` (${texts.task} ${String(task)})`}: {line}
      </summary>
      <CopyButton text={text} />
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
