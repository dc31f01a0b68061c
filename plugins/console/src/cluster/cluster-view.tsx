import { request } from '../common/api.ts';
import { usePolled } from '../common/polled.ts';
import { Problem } from '../common/problem.tsx';
import { CLUSTER_PARTS, clusterAddress, fleetAddress, type ClusterPart } from '../common/route.ts';
import { Tabs } from '../common/tabs.tsx';
import { texts } from '../texts/cluster.ts';
import { TitledTable } from '../common/titled-table.tsx';

interface WorkerInfo {
  readonly worker_id: string;
  readonly url: string;
  readonly state: string;
  readonly connectors: number | readonly string[];
  readonly tasks: number | readonly string[];
}

interface Cluster {
  readonly group: string;
  readonly is_leader: boolean;
  readonly generation: number;
  readonly protocol: string;
  readonly completed_rebalances: number;
  readonly threads: readonly {
    readonly thread: string | number;
    readonly purpose: string;
    readonly tasks: readonly string[];
    readonly event_loop_delay_seconds: number | null;
  }[];
  readonly last_rebalance: {
    readonly reason: string;
    readonly completed_at: string;
    readonly duration_ms: number;
    readonly assigned: readonly string[];
    readonly revoked: readonly string[];
  } | null;
}

/** The cluster; `part` is the part of it that the address names. */
export function ClusterView({ part }: { readonly part: ClusterPart }) {
  return (
    <>
      <h1>{texts.cluster}</h1>
      <Tabs
        label={texts.parts}
        tabs={CLUSTER_PARTS.map((each) => ({
          address: clusterAddress(each),
          title: texts.partTitles[each],
          isOpen: each === part,
        }))}
      />
      {part === 'workers' ? <Group /> : null}
    </>
  );
}

/** The workers of the group, and the threads of the one that has served the page. */
function Group() {
  const { value, error } = usePolled('cluster', async () => {
    const [workers, cluster] = await Promise.all([
      request<readonly WorkerInfo[]>('GET', '/cluster/workers'),
      request<Cluster>('GET', '/cluster'),
    ]);
    return { workers, cluster };
  });
  const problem = error === undefined ? '' : error.status === 404 ? texts.standalone : error.message;
  if (value === undefined) return problem === '' ? <p class="empty">{texts.loading}</p> : <Problem text={problem} />;
  const { workers, cluster } = value;
  return (
    <>
      <Problem text={problem} />
      <p class="quiet">{texts.groupOf(cluster.group, cluster.generation, cluster.protocol)}</p>
      <Workers workers={workers} />
      {cluster.last_rebalance === null ? null : (
        <>
          <h2>{texts.lastRebalance}</h2>
          <p>
            {texts.rebalance(
              new Date(cluster.last_rebalance.completed_at).toLocaleString(),
              cluster.last_rebalance.reason,
              cluster.last_rebalance.duration_ms,
              cluster.last_rebalance.assigned.length,
              cluster.last_rebalance.revoked.length,
            )}
          </p>
        </>
      )}
      <Threads threads={cluster.threads} />
    </>
  );
}

function Workers({ workers }: { readonly workers: readonly WorkerInfo[] }) {
  return (
    <TitledTable label={texts.workers} titles={[texts.worker, texts.state, texts.connectors, texts.tasks]}>
      {workers.map((each) => (
        <tr key={each.worker_id}>
          <th scope="row">
            <a href={fleetAddress({ worker: each.worker_id })}>{each.worker_id}</a>
          </th>
          <td>{each.state}</td>
          <td>{countOf(each.connectors)}</td>
          <td>{countOf(each.tasks)}</td>
        </tr>
      ))}
    </TitledTable>
  );
}

function Threads({ threads }: Pick<Cluster, 'threads'>) {
  return (
    <>
      <h2>{texts.threads}</h2>
      <TitledTable label={texts.threads} titles={[texts.thread, texts.purpose, texts.loopDelay, texts.tasks]}>
        {threads.map((each) => (
          <tr key={each.thread}>
            <th scope="row">{each.thread}</th>
            <td>{each.purpose}</td>
            <td>{each.event_loop_delay_seconds === null ? '–' : (each.event_loop_delay_seconds * 1000).toFixed(0)}</td>
            <td>{each.tasks.join(', ')}</td>
          </tr>
        ))}
      </TitledTable>
    </>
  );
}

function countOf(value: number | readonly string[]): number {
  return typeof value === 'number' ? value : value.length;
}
