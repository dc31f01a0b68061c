import { sleep } from '../../async/sleep.ts';
import { toError } from '../../errors.ts';
import { httpRequest } from '../../http/http-client.ts';
import type { GroupWorkerAnswer } from '../../operate/drain/cluster-answers.ts';

export interface DrainOptions {
  /** URL of any worker of the group; it may contain a user and a password. */
  readonly url: string;
  /** Advertised `host:port` of the worker to drain; `undefined`: the workers are only listed. */
  readonly worker: string | undefined;
  readonly undo: boolean;
  /** Whether to return when the drain has begun, instead of waiting until the worker is drained. */
  readonly noWait: boolean;
}

const POLL_MS = 500;
const REQUEST_MS = 95_000;
/** How long requests are retried. A leader that no longer answers is replaced only after its session timeout. */
const RETRY_MS = 60_000;

/**
 * Drains a worker of a group and, unless `noWait` is set, waits until the worker has no work left. With `undo`, ends
 * the drain instead. `print` is called with a line for each change. Rejects if the worker at `url` does not answer, or
 * if the drained worker leaves the group or takes work again before it has none left.
 */
export async function drain(options: DrainOptions, print: (line: string) => void): Promise<void> {
  const { worker, undo, noWait } = options;
  const api = new ClusterApi(options.url);
  if (worker === undefined) {
    for (const each of await api.workers()) print(line(each));
    return;
  }
  const begun = await api.withRetries(() => api.drain(worker, !undo));
  print(line(begun));
  if (undo || noWait || begun.state === 'drained') return;
  let last = line(begun);
  for (;;) {
    await sleep(POLL_MS);
    const all = await api.withRetries(() => api.workers());
    const view = all.find(({ worker_id: id }) => id === begun.worker_id);
    if (view === undefined) throw new Error(`Worker ${begun.worker_id} has left the group before it was drained.`);
    if (view.state === 'running')
      throw new Error(`Worker ${begun.worker_id} takes work again: its drain was ended, or it restarted.`);
    if (line(view) !== last) print((last = line(view)));
    if (view.state === 'drained') return;
  }
}

function line({ worker_id: id, is_leader: isLeader, state, connectors, tasks }: GroupWorkerAnswer): string {
  const left = `${String(connectors)} connectors and ${String(tasks)} tasks${state === 'running' ? '' : ' left'}`;
  return `${id}: ${state}, ${left}${isLeader ? ' (leader)' : ''}`;
}

/** An error that may disappear on a retry. */
class TemporaryError extends Error {}

class ClusterApi {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(text: string) {
    if (!URL.canParse(text)) throw new Error(`--url ${text} is not a URL, such as http://127.0.0.1:8083`);
    const url = new URL(text);
    const { username, password } = url;
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.#headers = username === '' ? {} : { Authorization: `Basic ${Buffer.from(login).toString('base64')}` };
    url.username = '';
    url.password = '';
    this.#base = url.href.replace(/\/$/, '');
  }

  async workers(): Promise<readonly GroupWorkerAnswer[]> {
    return (await this.#request('GET', '/cluster/workers')) as readonly GroupWorkerAnswer[];
  }

  async drain(worker: string, isDraining: boolean): Promise<GroupWorkerAnswer> {
    const path = `/cluster/workers/${encodeURIComponent(worker)}/drain`;
    return (await this.#request(isDraining ? 'PUT' : 'DELETE', path)) as GroupWorkerAnswer;
  }

  /** Retries for `RETRY_MS` while the worker does not answer, has no leader, or takes part in a rebalance. */
  async withRetries<T>(request: () => Promise<T>): Promise<T> {
    const until = Date.now() + RETRY_MS;
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof TemporaryError) || Date.now() > until) throw error;
        await sleep(POLL_MS);
      }
    }
  }

  async #request(method: string, path: string): Promise<unknown> {
    const request = { method, url: new URL(this.#base + path), headers: this.#headers, timeoutMs: REQUEST_MS };
    const { status, body } = await httpRequest(request).catch((error: unknown) => {
      throw new TemporaryError(`The worker at ${this.#base} does not answer: ${toError(error).message}`);
    });
    const text = body.toString();
    if (status >= 200 && status < 300) return JSON.parse(text);
    const message = messageOf(text) ?? `HTTP ${String(status)}`;
    throw isTemporary(status, message) ? new TemporaryError(message) : new Error(message);
  }
}

/** Whether a retry may succeed: the worker has failed, has no leader, or takes part in a rebalance. */
function isTemporary(status: number, message: string): boolean {
  return status >= 500 || (status === 409 && message.includes('rebalance'));
}

function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
