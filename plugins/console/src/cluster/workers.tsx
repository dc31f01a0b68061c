import { useState } from 'preact/hooks';
import type { ClusterAnswer, FleetSnapshot, GroupWorkerAnswer, WorkerDetail } from '../common/answers.ts';
import { ApiError, request } from '../common/api.ts';
import { bytesText } from '../common/bytes-text.ts';
import { isWritable, silentWorkers, skewMs, worker as served } from '../common/fleet-store.ts';
import { minutesText } from '../common/format.ts';
import { useNow } from '../common/now.ts';
import { fleetAddress } from '../common/addresses.ts';
import { durationText } from '../common/time.ts';
import { useAction, type Action } from '../kit/action.ts';
import { SelectField } from '../kit/field.tsx';
import { Async, usePolled } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/cluster.ts';
import { DrainButton } from './drain-button.tsx';
import { Rebalances } from './rebalances.tsx';
import { Threads } from './threads.tsx';

/** Maximum number of workers whose details are requested. */
const MAX_DETAILS = 50;
const LONG_TURN_MS = 1000;
/** If a worker uses at least this share of its memory limit, its memory is highlighted. */
const LOW_MEMORY = 0.9;
const NUMBERS = [texts.connectors, texts.tasks, texts.memory, texts.cpu, texts.loopDelay, texts.uptime];

interface Group {
  readonly workers: readonly GroupWorkerAnswer[];
  /** Details by worker ID; `undefined` if the worker does not answer. */
  readonly details: ReadonlyMap<string, WorkerDetail | undefined>;
  readonly group: ClusterAnswer | undefined;
}

/** The workers of the group, and the threads and rebalances of one of them. */
export function Workers() {
  const loaded = usePolled('cluster', look);
  const { problem, run } = useAction();
  return (
    <>
      <Problem text={problem} />
      <Async of={loaded}>
        {(found) => (
          <WorkerGroup
            found={found}
            run={async (work) => {
              await run(work);
              loaded.reload();
            }}
          />
        )}
      </Async>
    </>
  );
}

interface WorkerGroupProps {
  readonly found: Group;
  readonly run: Action['run'];
}

function WorkerGroup({ found: { workers, details, group }, run }: WorkerGroupProps) {
  const [chosen, setChosen] = useState('');
  const ids = workers.map(({ worker_id: id }) => id);
  const shown = [chosen, served.value?.id ?? ''].find((id) => ids.includes(id)) ?? ids[0] ?? '';
  const detail = details.get(shown);
  const answering = [...details.values()].flatMap((each) => each ?? []);
  return (
    <>
      <p class="quiet">
        {group === undefined
          ? texts.standalone
          : texts.groupOf(group.group, group.generation, group.protocol ?? texts.unknown)}
      </p>
      <WorkerTable workers={workers} details={details} run={run} />
      {workers.length > MAX_DETAILS ? <p class="quiet">{texts.manyWorkers(MAX_DETAILS)}</p> : null}
      {ids.length < 2 ? null : (
        <div class="filters choose-worker">
          <SelectField label={texts.worker} value={shown} options={ids} onChange={setChosen} />
        </div>
      )}
      {detail === undefined ? (
        <p class="empty">{texts.silent}</p>
      ) : (
        <>
          <Threads detail={detail} />
          {group === undefined ? null : <Rebalances detail={detail} all={answering} />}
        </>
      )}
    </>
  );
}

interface WorkerTableProps extends Pick<Group, 'workers' | 'details'> {
  readonly run: Action['run'];
}

function WorkerTable({ workers, details, run }: WorkerTableProps) {
  const isDrainable = isWritable.value && workers.some(({ url }) => url !== '');
  const titles = [
    ...[texts.worker, texts.state, texts.version, texts.connectors, texts.tasks, texts.memory, texts.cpu],
    ...[texts.loopDelay, texts.uptime],
    ...(isDrainable ? [texts.drain] : []),
  ];
  return (
    <Table label={texts.workers} titles={titles} numbers={NUMBERS}>
      {workers.map((each) => (
        <WorkerRow
          key={each.worker_id}
          row={each}
          detail={details.get(each.worker_id)}
          isAsked={details.has(each.worker_id)}
          drain={isDrainable ? <DrainButton worker={each} all={workers} run={run} /> : null}
        />
      ))}
    </Table>
  );
}

interface WorkerRowProps {
  readonly row: GroupWorkerAnswer;
  readonly detail: WorkerDetail | undefined;
  readonly isAsked: boolean;
  readonly drain: preact.JSX.Element | null;
}

function WorkerRow({ row, detail, isAsked, drain }: WorkerRowProps) {
  const isSilent = isAsked && detail === undefined;
  const since = silentWorkers.value.find(({ worker }) => worker === row.worker_id)?.since;
  const now = useNow(isSilent) - skewMs.value;
  return (
    <tr>
      <th scope="row" class="nowrap">
        <a href={fleetAddress({ worker: row.worker_id })}>{row.worker_id}</a>
        {row.is_leader ? <small class="mark">{texts.leader}</small> : null}
        {row.url === '' ? null : (
          <small class="below">
            {row.url} <a href={`${row.url.replace(/\/$/, '')}/ui#/cluster`}>{texts.itsConsole}</a>
          </small>
        )}
      </th>
      <td class={row.state === 'running' && !isSilent ? '' : 'warning'}>
        {isSilent ? (since === undefined ? texts.silent : texts.silentFor(minutesText(now - since))) : stateText(row)}
        {isSilent ? <small class="below">{texts.inGroup(stateText(row))}</small> : null}
        {row.state === 'drained' && !isSilent ? <small class="below">{texts.mayStop}</small> : null}
      </td>
      <td>{detail?.version ?? '–'}</td>
      <td class="number">{row.connectors}</td>
      <td class="number">{row.tasks}</td>
      <Memory detail={detail} />
      <td class="number" title={texts.cpuHint}>
        {detail?.cpuCores?.toFixed(2) ?? '–'}
      </td>
      <td
        class={`number nowrap ${(detail?.loopDelayMs ?? 0) >= LONG_TURN_MS ? 'warning' : ''}`}
        title={texts.loopDelayHint}
      >
        {detail === undefined ? '–' : `${String(detail.loopDelayMs)} ms`}
      </td>
      <td class="number nowrap">
        {detail === undefined ? '–' : durationText(Date.now() - skewMs.value - detail.startedAt)}
      </td>
      {drain === null ? null : <td>{drain}</td>}
    </tr>
  );
}

/** Shows the memory of a worker. A worker of an earlier version does not report its limit. */
function Memory({ detail }: Pick<WorkerRowProps, 'detail'>) {
  if (detail === undefined) return <td class="number">–</td>;
  const { memoryBytes: used, memoryLimitBytes: limit } = detail;
  return (
    <td class={`number nowrap ${isMemoryLow(used, limit) ? 'warning' : ''}`} title={texts.memoryHint}>
      {bytesText(used)} {limit === undefined ? null : <small>{texts.ofLimit(bytesText(limit))}</small>}
    </td>
  );
}

function isMemoryLow(used: number, limit = Infinity): boolean {
  return used >= LOW_MEMORY * limit;
}

function stateText({ state }: GroupWorkerAnswer): string {
  return texts.states[state] ?? state;
}

async function look(): Promise<Group> {
  try {
    const [workers, group] = await Promise.all([
      request<readonly GroupWorkerAnswer[]>('GET', '/cluster/workers'),
      request<ClusterAnswer>('GET', '/cluster'),
    ]);
    const asked = workers.slice(0, MAX_DETAILS).map(({ worker_id: id }) => id);
    return { workers, group, details: await detailsOf(asked) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return alone();
  }
}

async function detailsOf(ids: readonly string[]): Promise<Group['details']> {
  const asked = ids.map(async (id) => {
    const answer = request<WorkerDetail>('GET', `/ui/workers/${encodeURIComponent(id)}`);
    return [id, await answer.catch(() => undefined)] as const;
  });
  return new Map(await Promise.all(asked));
}

/** Returns a standalone worker as a group with one worker. */
async function alone(): Promise<Group> {
  const detail = await request<WorkerDetail>('GET', '/ui/workers/this?local=true');
  const tasks = detail.threads.reduce((sum, { taskCount }) => sum + taskCount, 0);
  const { total } = await request<FleetSnapshot>('GET', '/ui/snapshot');
  const row = { worker_id: detail.worker, url: '', is_leader: false, connectors: total, tasks };
  return { workers: [{ ...row, state: 'running' }], group: undefined, details: new Map([[detail.worker, detail]]) };
}
