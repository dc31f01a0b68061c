import { toError } from '../../src/errors.ts';
import type { ConnectRest } from './rest.ts';
import { uniqueName } from './services.ts';
import { until, type UntilOptions } from './until.ts';
import { WorkerProcess } from './worker-process.ts';

/** Workers of one group. They are started with the same properties, and each has its own port. */
export class WorkerCluster {
  /** The environment variable that contains the name of a worker. */
  static readonly NAME = 'CLUSTER_WORKER';
  readonly workers: readonly WorkerProcess[];

  private constructor(workers: readonly WorkerProcess[]) {
    this.workers = workers;
  }

  /** `login` is `user:password` for basic authentication. */
  static async start(
    size: number,
    properties: Readonly<Record<string, string>>,
    login?: string,
  ): Promise<WorkerCluster> {
    const first = await WorkerProcess.start({ properties, environment: { [this.NAME]: nameOf(0) }, login });
    try {
      const { listeners: _own, ...shared } = first.properties;
      const others = Array.from({ length: size - 1 }, (_, index) =>
        WorkerProcess.start({ properties: shared, environment: { [this.NAME]: nameOf(index + 1) }, login }),
      );
      return new WorkerCluster([first, ...(await Promise.all(others))]);
    } catch (error) {
      await first.discard();
      throw error;
    }
  }

  /** Starts all workers at the same time, so that each finds the internal topics missing. Rejects if a worker ends. */
  static async startAtOnce(size: number, properties: Readonly<Record<string, string>>): Promise<WorkerCluster> {
    const group = uniqueName('at-once');
    const shared = {
      'group.id': group,
      'config.storage.topic': `${group}-configs`,
      'offset.storage.topic': `${group}-offsets`,
      'status.storage.topic': `${group}-status`,
      ...properties,
    };
    const starts = Array.from({ length: size }, (_, index) =>
      WorkerProcess.start({ properties: shared, environment: { [this.NAME]: nameOf(index) } }),
    );
    const outcomes = await Promise.allSettled(starts);
    const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    try {
      await Promise.all(starts);
      return new WorkerCluster(started);
    } catch (error) {
      await Promise.all(started.map((worker) => worker.discard()));
      throw error;
    }
  }

  worker(index: number): WorkerProcess {
    const worker = this.workers[index % this.workers.length];
    if (worker === undefined) throw new Error('A cluster without workers');
    return worker;
  }

  nameOf(index: number): string {
    return nameOf(index % this.workers.length);
  }

  rest(index: number): ConnectRest {
    return this.worker(index).rest;
  }

  /** Returns the index of the worker with this worker id, which statuses contain. */
  indexOf(workerId: string): number {
    return this.workers.findIndex(({ url }) => url.endsWith(`//${workerId}`));
  }

  /**
   * Returns the workers of the connector and of its tasks, as reported by one worker; the connector's worker is first.
   * Returns `undefined` unless all of them are running.
   */
  async places(connector: string, asked = 0): Promise<number[] | undefined> {
    const { connector: own, tasks } = await this.rest(asked).status(connector);
    const all = [own, ...tasks];
    return all.every(({ state }) => state === 'RUNNING') ? all.map((each) => this.indexOf(each.worker_id)) : undefined;
  }

  /** Waits until the connector runs with this number of tasks, and only on these workers. Resolves with the places. */
  async untilRuns(
    connector: string,
    tasks: number,
    on: readonly number[] = this.workers.map((_, index) => index),
    options: UntilOptions & { asked?: number } = {},
  ): Promise<number[]> {
    const asked = options.asked ?? on[0] ?? 0;
    try {
      return await until(
        async () => {
          const places = await this.places(connector, asked);
          return places?.length === tasks + 1 && places.every((place) => on.includes(place)) ? places : undefined;
        },
        `${connector} with ${String(tasks)} tasks on workers ${on.join(', ')}`,
        options,
      );
    } catch (error) {
      const status = await this.rest(asked)
        .status(connector)
        .catch((reason: unknown) => String(reason));
      throw new Error(`${toError(error).message}: ${JSON.stringify(status)}`, { cause: error });
    }
  }

  /** Resolves when all workers have the same generation and no work is moving. */
  async settled(): Promise<void> {
    await until(async () => {
      const asked = this.workers.map(({ rest }) => rest.get<{ generation: number; rebalancing: boolean }>('/cluster'));
      const views = (await Promise.all(asked)).map(({ body }) => body);
      return views.every(({ generation, rebalancing }) => !rebalancing && generation === views[0]?.generation);
    }, 'no rebalance is in progress');
  }

  async discard(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.discard()));
  }
}

function nameOf(index: number): string {
  return `worker-${String(index)}`;
}
