import { useEffect, useState } from 'preact/hooks';
import { ApiError, connectorPath, request } from './api.ts';
import { DeadLetters } from './dead-letters.tsx';
import { HistoryCharts, type WorkerHistory } from './history-charts.tsx';
import { short, shortClass, type Verdict } from './fleet-row.ts';
import { refresh, rows, worker } from './fleet-store.ts';
import { fleetAddress } from './route.ts';
import { texts } from './texts.ts';
import { TitledTable } from './titled-table.tsx';
import { VerdictBadge } from './verdict-badge.tsx';

interface TaskFigures {
  readonly task: number;
  readonly state: string;
  readonly worker: string;
  readonly thread: string | number | null;
  readonly partitions: readonly { readonly topic: string; readonly partition: number; readonly lag: number | null }[];
  readonly lag: number | null;
  readonly waiting: number;
  readonly lastDeliveredAt: string | null;
}

interface Health {
  readonly name: string;
  readonly type: string;
  readonly verdict: Verdict;
  readonly sentence: string;
  readonly reasons: readonly string[];
  readonly since: string;
  readonly tasks: readonly TaskFigures[];
  readonly silentWorkers: readonly string[];
}

interface Status {
  readonly connector: { readonly state: string; readonly trace?: string };
  readonly tasks: readonly { readonly id: number; readonly trace?: string }[];
}

const INTERVAL_MS = 5000;

/** One connector: what is wrong, its tasks, its last hour. */
export function ConnectorView({ name }: { readonly name: string }) {
  const [health, setHealth] = useState<Health | undefined>();
  const [status, setStatus] = useState<Status | undefined>();
  const [history, setHistory] = useState<readonly WorkerHistory[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const path = connectorPath(name);
        const [nextHealth, nextStatus, nextHistory] = await Promise.all([
          request<Health>('GET', `${path}/health`),
          request<Status>('GET', `${path}/status`),
          request<readonly WorkerHistory[]>('GET', `/ui${path}/history`),
        ]);
        if (!isOpen) return;
        setHealth(nextHealth);
        setStatus(nextStatus);
        setHistory(nextHistory);
        setProblem('');
      } catch (error) {
        const isGone = error instanceof ApiError && error.status === 404;
        if (isOpen) setProblem(isGone ? texts.notFound(name) : (error as Error).message);
      }
      if (isOpen) timer = setTimeout(() => void look(), INTERVAL_MS);
    };
    void look();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [name]);
  const className = rows.value.find((row) => row.name === name)?.className ?? '';
  return (
    <>
      <p>
        <a href={fleetAddress()}>← {texts.back}</a>
      </p>
      <h1>
        {name} <small>{shortClass(className)}</small>
      </h1>
      {problem === '' ? null : (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {health === undefined ? (
        problem === '' && <p class="empty">{texts.loading}</p>
      ) : (
        <>
          <section class={`sentence ${health.verdict.toLowerCase()}`} aria-label={texts.verdict}>
            <VerdictBadge verdict={health.verdict} />
            <p>{health.sentence}</p>
            <p class="quiet">{texts.since(new Date(health.since).toLocaleString())}</p>
            {health.silentWorkers.length === 0 ? null : <p>{texts.silent(health.silentWorkers.join(', '))}</p>}
          </section>
          {health.reasons.length < 2 ? null : (
            <details>
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
          <TaskTable health={health} status={status} name={name} report={setProblem} />
          {health.type === 'sink' ? <DeadLetters name={name} /> : null}
          <h2>{texts.charts}</h2>
          <HistoryCharts workers={history} />
        </>
      )}
    </>
  );
}

interface ActionsProps {
  readonly name: string;
  readonly report: (problem: string) => void;
}

function Actions({ name, report }: ActionsProps) {
  const path = connectorPath(name);
  const act = (method: string, to: string) => () => void send(method, path + to, report);
  return (
    <div class="bulk" role="toolbar" aria-label={name}>
      <button type="button" onClick={act('PUT', '/pause')}>
        {texts.pause}
      </button>
      <button type="button" onClick={act('PUT', '/resume')}>
        {texts.resume}
      </button>
      <button type="button" onClick={act('PUT', '/stop')}>
        {texts.stop}
      </button>
      <button type="button" onClick={act('POST', '/restart?includeTasks=true&onlyFailed=true')}>
        {texts.restartFailed}
      </button>
      <button type="button" onClick={act('POST', '/restart?includeTasks=true')}>
        {texts.restart}
      </button>
    </div>
  );
}

async function send(method: string, path: string, report: (problem: string) => void): Promise<void> {
  try {
    await request(method, path);
    report('');
    await refresh();
  } catch (error) {
    report((error as Error).message);
  }
}

interface TaskTableProps extends ActionsProps {
  readonly health: Health;
  readonly status: Status | undefined;
}

function TaskTable({ health, status, name, report }: TaskTableProps) {
  const traces = new Map(status?.tasks.map(({ id, trace }) => [id, trace]));
  const isWritable = worker.value?.readOnly === false;
  const titles = [
    ...[texts.task, texts.state, texts.worker, texts.thread, texts.partitions, texts.lag, texts.waiting],
    texts.lastDelivered,
    ...(isWritable ? [texts.restart] : []),
  ];
  return (
    <section>
      <h2>{texts.tasks}</h2>
      {status?.connector.trace === undefined ? null : <Trace text={status.connector.trace} />}
      <TitledTable label={texts.tasks} titles={titles}>
        {health.tasks.map((task) => (
          <tr key={task.task}>
            <th scope="row">{task.task}</th>
            <td>{task.state}</td>
            <td>{task.worker}</td>
            <td>{task.thread ?? '–'}</td>
            <td>{partitionsText(task)}</td>
            <td class="number">{short(task.lag)}</td>
            <td class="number">{short(task.waiting)}</td>
            <td>{task.lastDeliveredAt === null ? '–' : new Date(task.lastDeliveredAt).toLocaleTimeString()}</td>
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

/** Folded; copied whole, as Connect has it. */
function Trace({ text, task }: { readonly text: string; readonly task?: number }) {
  const [isCopied, setCopied] = useState(false);
  const [line = ''] = text.split('\n', 1);
  return (
    <details class="trace">
      <summary>
        {texts.trace}
        {task === undefined ? '' : ` (${texts.task} ${String(task)})`}: {line}
      </summary>
      <button
        type="button"
        onClick={() => {
          void navigator.clipboard.writeText(text).then(() => {
            setCopied(true);
          });
        }}
      >
        {isCopied ? texts.copied : texts.copy}
      </button>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

const MAX_PARTITIONS = 6;

function partitionsText({ partitions }: TaskFigures): string {
  if (partitions.length === 0) return '–';
  const names = partitions.slice(0, MAX_PARTITIONS).map(({ topic, partition }) => `${topic}-${String(partition)}`);
  const rest = partitions.length - names.length;
  return rest === 0 ? names.join(', ') : `${names.join(', ')} +${String(rest)}`;
}
