import { computed, signal } from '@preact/signals';
import type { FleetNews, FleetRow, FleetSnapshot, GroupWorkerAnswer } from './answers.ts';
import { ApiError, request } from './api.ts';
import { inOrder } from './fleet-row.ts';

const byName = new Map<string, FleetRow>();
const changes = signal(0);

export const worker = signal<FleetSnapshot['worker'] | undefined>(undefined);
/** True if the worker is known and its console is not read-only. */
export const isWritable = computed(() => worker.value?.readOnly === false);
/** The time at which the last rows arrived, in milliseconds of this machine's clock. */
export const updatedAt = signal<number | undefined>(undefined);
/** The number of milliseconds by which this machine's clock is ahead of the worker's clock. */
export const skewMs = signal(0);
export const silentWorkers = signal<FleetSnapshot['silent']>([]);
/** The other workers of the group. The page links to their consoles if its own worker does not answer. */
export const otherWorkers = signal<readonly GroupWorkerAnswer[]>([]);
/** The reason why the rows may be outdated; `undefined` while they are up to date. */
export const failure = signal<string | undefined>(undefined);
/** All connectors, the worst verdict first. */
export const rows = computed(() => (changes.value < 0 ? [] : inOrder([...byName.values()])));

const RETRY_MS = 3000;

/** Loads all rows, then applies the events about changed rows. Loads all rows again if an event was missed. */
export async function follow(): Promise<void> {
  try {
    const snapshot = await request<FleetSnapshot>('GET', '/ui/snapshot');
    byName.clear();
    worker.value = snapshot.worker;
    take({ ...snapshot, gone: [] });
    void findOthers(snapshot.worker.id);
  } catch (error) {
    failure.value = error instanceof ApiError ? error.message : String(error);
    setTimeout(() => void follow(), RETRY_MS);
    return;
  }
  const events = new EventSource('/ui/events');
  const again = (): void => {
    events.close();
    void follow();
  };
  events.addEventListener('rows', ({ data }: MessageEvent<string>) => {
    const news = JSON.parse(data) as FleetNews;
    take(news);
    if (news.total !== byName.size) again();
  });
  events.addEventListener('failure', ({ data }: MessageEvent<string>) => {
    failure.value = (JSON.parse(data) as { message: string }).message;
  });
  events.onerror = () => {
    failure.value = 'lost';
    events.close();
    setTimeout(() => void follow(), RETRY_MS);
  };
}

/** If the request fails, `otherWorkers` is empty, as for a standalone worker, which has no group. */
async function findOthers(own: string): Promise<void> {
  const all = await request<readonly GroupWorkerAnswer[]>('GET', '/cluster/workers').catch(() => []);
  otherWorkers.value = all.filter(({ worker_id: id, url }) => id !== own && url !== '');
}

/** Loads all rows immediately, so that a change by this console is shown before the next event arrives. */
export async function refresh(): Promise<void> {
  const snapshot = await request<FleetSnapshot>('GET', '/ui/snapshot');
  byName.clear();
  take({ ...snapshot, gone: [] });
}

function take(news: Omit<FleetNews, 'total'>): void {
  for (const name of news.gone) byName.delete(name);
  for (const row of news.rows) byName.set(row.name, row);
  updatedAt.value = Date.now();
  skewMs.value = Date.now() - news.at;
  silentWorkers.value = news.silent;
  failure.value = undefined;
  changes.value += 1;
}
