import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectRest } from './rest.ts';
import { uniqueName } from './services.ts';
import { until } from './until.ts';
import type { WorkerCluster } from './worker-cluster.ts';

export interface RequestLoadOptions {
  /** Each connector gets four or five requests. */
  readonly connectors: number;
  /** Number of connectors that are processed concurrently. */
  readonly atOnce: number;
  /** Returns the workers that get requests in turn; called for each request. */
  readonly asked: () => readonly number[];
  /**
   * If true, requests are retried, as Connect's clients do, if there is no response or if the response reports a
   * rebalance. Otherwise each request must get the response that a single worker would send.
   */
  readonly persistent?: boolean;
}

const PAUSE_MS = 200;
const TIMEOUT_MS = 60_000;
const IN_MOTION =
  /rebalance|conflicting operation|no known leader URL|IO Error trying to forward|Worker is shutting down|still starting up/;

/**
 * Creates, reads, changes, pauses and deletes connectors through several workers of a cluster, and checks every
 * response. At the end, all workers must have the same connectors in the state that was requested last; then these
 * connectors are deleted too.
 */
export class RequestLoad {
  readonly #cluster: WorkerCluster;
  readonly #options: RequestLoadOptions;
  #turn = 0;
  #requests = 0;
  #repeats = 0;

  constructor(cluster: WorkerCluster, options: RequestLoadOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Number of repetitions of a persistent load. */
  get repeats(): number {
    return this.#repeats;
  }

  async run(): Promise<void> {
    const names = Array.from({ length: this.#options.connectors }, () => uniqueName('rest'));
    const queue = [...names.entries()];
    const lane = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift())
        await this.#life(next[1], next[0] % 2 === 1);
    };
    await Promise.all(Array.from({ length: this.#options.atOnce }, lane));
    const kept = names.filter((_, index) => index % 2 === 0).sort();
    for (const index of this.#cluster.workers.keys()) await this.#untilKnown(this.#cluster.rest(index), names, kept);
    await Promise.all(kept.map((name) => this.#ask('DELETE', `/connectors/${name}`, 204)));
  }

  async #life(name: string, isDeleted: boolean): Promise<void> {
    const path = `/connectors/${name}`;
    await this.#ask('POST', '/connectors', 201, { name, config: configOf('created') });
    const read = await this.#ask('GET', path, 200);
    assert.deepEqual(read['config'], { ...configOf('created'), name });
    const changed = await this.#ask('PUT', `${path}/config`, 200, configOf('changed'));
    assert.deepEqual(changed['config'], { ...configOf('changed'), name });
    await this.#ask('PUT', `${path}/pause`, 202);
    if (isDeleted) await this.#ask('DELETE', path, 204);
  }

  async #ask(method: string, path: string, expected: number, body?: unknown): Promise<Record<string, unknown>> {
    const deadline = Date.now() + TIMEOUT_MS;
    for (let attempt = 1; ; attempt++) {
      const asked = this.#options.asked();
      const rest = this.#cluster.rest(asked[this.#turn++ % asked.length] ?? 0);
      this.#requests += 1;
      let answer: { status: number; body: Record<string, unknown> };
      try {
        answer = await rest.request<Record<string, unknown>>(method, path, body);
      } catch (error) {
        if (this.#options.persistent !== true || Date.now() > deadline) throw error;
        answer = { status: 0, body: { message: 'IO Error trying to forward REST request' } };
      }
      const { status } = answer;
      if (status === expected) return answer.body;
      const text = `${method} ${path} on ${rest.url}: ${String(status)} ${JSON.stringify(answer.body)}`;
      assert.ok(this.#options.persistent, text);
      // The response to an earlier attempt was lost, but the request was executed.
      const isDone = attempt > 1 && ((method === 'POST' && status === 409) || (method === 'DELETE' && status === 404));
      if (isDone && !IN_MOTION.test(text)) return {};
      assert.ok(IN_MOTION.test(text) && Date.now() < deadline, text);
      this.#repeats += 1;
      await delay(PAUSE_MS);
    }
  }

  async #untilKnown(rest: ConnectRest, names: readonly string[], kept: readonly string[]): Promise<void> {
    const known = async (): Promise<boolean> => {
      const { body } =
        await rest.get<Record<string, { info: { config: Record<string, string> } }>>('/connectors?expand=info');
      const own = Object.keys(body).filter((name) => names.includes(name));
      return (
        own.sort().join() === kept.join() && own.every((name) => body[name]?.info.config['poll.note'] === 'changed')
      );
    };
    await until(known, `${rest.url} knows what is left`, { timeoutMs: 10_000 });
  }
}

/** Returns a source that reads an empty file, so it runs without doing anything. */
function configOf(note: string): Record<string, string> {
  return { 'connector.class': 'FileStreamSource', file: '/dev/null', topic: 'unused', 'poll.note': note };
}
