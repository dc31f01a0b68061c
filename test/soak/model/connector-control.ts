import type { Draw } from '../../support/random.ts';
import type { ConnectorStatus, ConnectRest } from '../../support/rest.ts';
import { until } from '../../support/until.ts';
import { Difference } from '../differential/record-lines.ts';

/** A request may have to wait for a rebalance, which takes a moment. */
const REQUEST_MS = 30_000;

/** The connector of a seed, and the operations that users perform on it while it works. */
export class ConnectorControl {
  readonly name: string;
  #config: Readonly<Record<string, string>>;
  readonly #rest: ConnectRest;

  constructor(rest: ConnectRest, name: string, config: Readonly<Record<string, string>>) {
    this.#rest = rest;
    this.name = name;
    this.#config = config;
  }

  async create(): Promise<void> {
    await this.#rest.create(this.name, this.#config);
  }

  async delete(): Promise<void> {
    await this.#ask('DELETE', '', undefined, [204, 404]);
  }

  /**
   * Restarts, pauses or stops the connector, or changes its number of tasks. Resolves with a description of the
   * operation.
   */
  async disturb(draw: Draw, mostTasks: number): Promise<string> {
    const kinds = ['restart', 'restart-task', 'pause', 'stop', ...(mostTasks > 1 ? ['tasks', 'tasks'] : [])];
    const kind = draw.pick(kinds);
    if (kind === 'restart') await this.#ask('POST', '/restart?includeTasks=true', undefined, [202, 204]);
    if (kind === 'restart-task') await this.#ask('POST', '/tasks/0/restart', undefined, [204, 404]);
    if (kind === 'tasks') await this.configure({ 'tasks.max': String(draw.between(1, mostTasks)) });
    if (kind === 'pause' || kind === 'stop') {
      await this.#ask('PUT', `/${kind}`, undefined, [202, 204]);
      if (draw.chance(0.5)) await this.untilState(kind === 'pause' ? 'PAUSED' : 'STOPPED');
      await this.#ask('PUT', '/resume', undefined, [202]);
    }
    return kind;
  }

  async configure(changes: Readonly<Record<string, string>>): Promise<void> {
    this.#config = { ...this.#config, ...changes };
    await this.#ask('PUT', '/config', this.#config, [200]);
  }

  /** Moves the offset after a record that has failed the task, and restarts the task. */
  async skipTo(topic: string, offset: number): Promise<void> {
    await this.#ask('PUT', '/stop', undefined, [204]);
    const partition = { kafka_topic: topic, kafka_partition: 0 };
    await this.#ask('PATCH', '/offsets', { offsets: [{ partition, offset: { kafka_offset: offset } }] }, [200]);
    await this.#ask('PUT', '/resume', undefined, [202]);
  }

  /** Returns the stack trace of a failed task. */
  async trace(): Promise<string | undefined> {
    const { status, body } = await this.#rest.get<ConnectorStatus>(`/connectors/${this.name}/status`);
    // Immediately after its creation, a connector has no status.
    if (status === 404) return undefined;
    const { connector, tasks } = body;
    return connector.trace ?? tasks.find(({ state }) => state === 'FAILED')?.trace;
  }

  async requireNoTrace(): Promise<void> {
    const trace = await this.trace();
    if (trace !== undefined) throw new Difference(`the connector has failed: ${trace.slice(0, 2000)}`);
  }

  async untilState(state: string): Promise<void> {
    await until(
      async () => (await this.#rest.status(this.name)).connector.state === state,
      `${this.name} is ${state}`,
      { timeoutMs: REQUEST_MS },
    );
  }

  async #ask(method: string, path: string, body: unknown, wanted: readonly number[]): Promise<void> {
    await until(
      async () => {
        const { status, body: answer } = await this.#rest.request(method, `/connectors/${this.name}${path}`, body);
        if (wanted.includes(status)) return true;
        throw new Error(`${method} ${path}: ${String(status)} ${JSON.stringify(answer)}`);
      },
      `${method} ${path} of ${this.name} is answered`,
      { timeoutMs: REQUEST_MS },
    );
  }
}
