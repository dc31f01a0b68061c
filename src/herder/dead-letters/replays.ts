import type { ConnectorConfig } from '../../connect/api.ts';
import type { TaskAssignment, TaskEvent } from '../../connect/tasks/task-assignment.ts';
import type { TaskHosting } from '../../connect/tasks/task-hosting.ts';
import { SerialQueue } from '../../async/serial-queue.ts';
import { RequestError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorState } from '../config-state.ts';
import { mayWork, type Placement } from '../placement.ts';
import type { ConfigStore } from '../stores/config-store.ts';
import type { OwnStore } from '../stores/own-store.ts';
import { withChain } from './replay-chain.ts';
import {
  advanced,
  connectorOfKey,
  newReplay,
  REPLAY_PREFIX,
  replayKey,
  replayPrefix,
  storedReplay,
  type NewReplay,
  type ReplayState,
  type StoredReplay,
} from './stored-replay.ts';

export interface ReplaysDependencies {
  readonly own: OwnStore;
  readonly configs: Pick<ConfigStore, 'connector'>;
  readonly placement: Placement;
  readonly tasks: TaskHosting;
  readonly taskStopTimeoutMs: number;
  /** Takes secrets out. */
  readonly hide: (text: string) => string;
  readonly logger: Logger;
}

/** What is left of a replay outside of the worker is taken away when it has ended. */
export type EndReplay = (connector: string, replay: StoredReplay) => Promise<void>;

interface Running {
  readonly connector: string;
  /** As it was when the task last started to count from 0. */
  base: StoredReplay;
  latest: StoredReplay;
  /** Of the task, last. */
  read: number;
  writing: NodeJS.Timeout | undefined;
  hasEnded: boolean;
}

const MAX_KEPT = 20;
const WRITE_EVERY_MS = 1000;

/**
 * The replays of dead letters: one at a time for each connector, as a task beside the connector's own, on the worker that has the
 * connector. They are kept in OwnStore, so that whoever gets the connector goes on with them.
 *
 * A replay: RUNNING -> DONE | FAILED | STOPPED.
 */
export class Replays {
  readonly #dependencies: ReplaysDependencies;
  readonly #running = new Map<string, Running>();
  readonly #queues = new Map<string, SerialQueue>();
  /** Ended here, while the store may not know it yet. */
  readonly #ended = new Set<string>();
  #endReplay: EndReplay = () => Promise.resolve();
  #stopListening: (() => void) | undefined;

  constructor(dependencies: ReplaysDependencies) {
    this.#dependencies = dependencies;
  }

  /** `endReplay` is called of each that ends. */
  onEnd(endReplay: EndReplay): void {
    this.#endReplay = endReplay;
  }

  /** Goes on with those that were running; the stores have been read. */
  start(): void {
    this.#stopListening = this.#dependencies.own.onChange((key, value) => {
      const connector = connectorOfKey(key);
      if (connector === undefined || storedReplay(value ?? undefined)?.state !== 'RUNNING') return;
      if (!this.#running.has(connector) && !this.#ended.has(key)) this.reconcile(connector);
    });
    this.reconcileAll();
  }

  /** Ends the tasks; another worker, or this one when it starts again, goes on. */
  async stop(): Promise<void> {
    this.#stopListening?.();
    await Promise.all([...this.#running.values()].map((running) => this.#leave(running)));
  }

  reconcileAll(): void {
    const stored = this.#dependencies.own.entries(REPLAY_PREFIX).map(([key]) => connectorOfKey(key) ?? '');
    for (const connector of new Set([...stored, ...this.#running.keys()])) this.reconcile(connector);
  }

  /** In the background. */
  reconcile(connector: string): void {
    const hasAny = this.#running.has(connector) || this.#entries(connector).length > 0;
    if (!hasAny) return;
    this.#inTurn(connector, () => this.#reconcileNow(connector)).catch((error: unknown) => {
      this.#dependencies.logger.error({ err: error, connector }, `The replay of ${connector} could not go on`);
    });
  }

  /** Resolves when replays of connectors that are another worker's now have ended here. */
  async giveUp(): Promise<void> {
    const { placement } = this.#dependencies;
    const lost = [...this.#running.values()].filter(({ connector }) => !placement.ownsConnector(connector));
    await Promise.all(lost.map((running) => this.#leave(running)));
  }

  /** Those of a connector that are kept, the newest first. */
  async list(connector: string): Promise<readonly StoredReplay[]> {
    await this.#dependencies.own.refresh();
    const latest = this.#running.get(connector)?.latest;
    return this.#entries(connector)
      .map((replay) => (replay.id === latest?.id ? latest : replay))
      .sort((a, b) => b.id - a.id);
  }

  /** @throws RequestError 404: there is none of this id */
  async get(connector: string, id: number): Promise<StoredReplay> {
    const found = (await this.list(connector)).find((replay) => replay.id === id);
    if (found === undefined) throw new RequestError(404, `Connector ${connector} has no replay ${String(id)}`);
    return found;
  }

  /** To be called on the worker that has the connector. @throws RequestError 409: one is running, or the connector is stopped */
  async begin(connector: string, given: NewReplay): Promise<StoredReplay> {
    return this.#inTurn(connector, async () => {
      const kept = await this.list(connector);
      const running = kept.find(({ state }) => state === 'RUNNING');
      if (running !== undefined) {
        throw new RequestError(409, `Replay ${String(running.id)} of connector ${connector} is running`);
      }
      const desired = this.#dependencies.configs.connector(connector);
      if (desired?.taskConfigs[0] === undefined || desired.targetState === 'STOPPED') {
        throw new RequestError(
          409,
          `Connector ${connector} has no task configuration: it is stopped, or does not start`,
        );
      }
      const group = desired.config['consumer.override.group.id'] ?? `connect-${connector}`;
      const replay = newReplay((kept[0]?.id ?? 0) + 1, group, given);
      await this.#put(connector, replay);
      await this.#prune(connector);
      this.#run(connector, desired, replay);
      return replay;
    });
  }

  /** To be called on the worker that has the connector. Resolves when nothing is written any more. @throws RequestError 404 */
  async end(connector: string, id: number): Promise<StoredReplay> {
    return this.#inTurn(connector, async () => {
      const running = this.#running.get(connector);
      if (running?.latest.id === id) return this.#finish(running, 'STOPPED', null);
      const replay = await this.get(connector, id);
      if (replay.state !== 'RUNNING') return replay;
      const stopped = ended(replay, 'STOPPED', null);
      await this.#put(connector, stopped);
      return stopped;
    });
  }

  onEvent(event: TaskEvent): void {
    const running = this.#running.get(event.id.connector);
    if (running === undefined || running.latest.id !== event.id.replay || running.hasEnded) return;
    if (event.state === 'FAILED') this.#finishSoon(running, 'FAILED', event.trace);
    if (event.state !== 'REPLAYED') return;
    const { progress } = event;
    // The task has started again, in another thread.
    if (progress.read < running.read) running.base = running.latest;
    running.read = progress.read;
    running.latest = advanced(running.base, progress);
    if (progress.isDone) this.#finishSoon(running, 'DONE', null);
    else running.writing ??= setTimeout(() => void this.#write(running), WRITE_EVERY_MS).unref();
  }

  async #write(running: Running): Promise<void> {
    running.writing = undefined;
    if (running.hasEnded || !mayWork(this.#dependencies.placement)) return;
    await this.#put(running.connector, running.latest).catch((error: unknown) => {
      const { connector } = running;
      this.#dependencies.logger.warn({ err: error, connector }, 'The progress of a replay was not stored');
    });
  }

  async #reconcileNow(connector: string): Promise<void> {
    const { configs, placement, own } = this.#dependencies;
    const desired = configs.connector(connector);
    const running = this.#running.get(connector);
    if (desired === undefined || !placement.ownsConnector(connector)) {
      if (running !== undefined) await this.#leave(running);
      if (desired === undefined && placement.isLeader) await this.#forget(connector);
      return;
    }
    if (running !== undefined) {
      if (desired.targetState === 'STOPPED') await this.#finish(running, 'STOPPED', 'The connector was stopped');
      return;
    }
    await own.refresh();
    const isOpen = ({ id, state }: StoredReplay) => state === 'RUNNING' && !this.#ended.has(replayKey(connector, id));
    const replay = this.#entries(connector).find(isOpen);
    if (replay === undefined || !placement.ownsConnector(connector)) return;
    if (desired.targetState === 'STOPPED') {
      await this.#put(connector, ended(replay, 'STOPPED', 'The connector was stopped'));
    } else if (desired.taskConfigs.length > 0) this.#run(connector, desired, replay);
  }

  #run(connector: string, desired: ConnectorState, replay: StoredReplay): void {
    this.#running.set(connector, {
      connector,
      base: replay,
      latest: replay,
      read: 0,
      writing: undefined,
      hasEnded: false,
    });
    this.#dependencies.tasks.start(assignment(connector, desired, replay));
  }

  /** The task ends, and the replay goes on elsewhere or later. */
  async #leave(running: Running): Promise<void> {
    if (running.hasEnded) return;
    // What it tells while it stops still counts.
    await this.#stopTask(running);
    await this.#write(running);
    running.hasEnded = true;
    this.#running.delete(running.connector);
  }

  #finishSoon(running: Running, state: ReplayState, reason: string | null): void {
    const { connector, latest } = running;
    this.#inTurn(connector, () => this.#finish(running, state, reason)).catch((error: unknown) => {
      this.#dependencies.logger.error(
        { err: error, connector },
        `The end of replay ${String(latest.id)} was not stored`,
      );
    });
  }

  async #finish(running: Running, state: ReplayState, reason: string | null): Promise<StoredReplay> {
    const { connector } = running;
    if (running.hasEnded) return running.latest;
    await this.#stopTask(running);
    running.hasEnded = true;
    running.latest = ended(running.latest, state, reason === null ? null : this.#reasonOf(reason));
    this.#ended.add(replayKey(connector, running.latest.id));
    this.#running.delete(connector);
    const { id, selected, failed } = running.latest;
    this.#dependencies.logger.info(
      { connector },
      `Replay ${String(id)} of ${connector} is ${state}: ${String(selected)} letters, ${String(failed)} have failed again`,
    );
    await this.#put(connector, running.latest);
    await this.#endReplay(connector, running.latest).catch((error: unknown) => {
      this.#dependencies.logger.warn(
        { connector },
        `Offsets of replay ${String(id)} are left in group ${running.latest.group}: ${toError(error).message}`,
      );
    });
    return running.latest;
  }

  async #stopTask({ connector, latest: { id }, writing }: Running): Promise<void> {
    clearTimeout(writing);
    const { tasks, taskStopTimeoutMs } = this.#dependencies;
    await tasks.stop([{ connector, task: 0, replay: id }], taskStopTimeoutMs);
  }

  #reasonOf(trace: string): string {
    const causes = trace.split('\n').filter((line) => line.startsWith('Caused by: '));
    return this.#dependencies
      .hide(causes.at(-1)?.slice('Caused by: '.length) ?? trace.split('\n')[0] ?? '')
      .slice(0, 2000);
  }

  async #put(connector: string, replay: StoredReplay): Promise<void> {
    await this.#dependencies.own.put(replayKey(connector, replay.id), { ...replay });
  }

  async #prune(connector: string): Promise<void> {
    const old = [...this.#entries(connector)].sort((a, b) => b.id - a.id).slice(MAX_KEPT - 1);
    for (const { id } of old) await this.#remove(connector, id);
  }

  async #forget(connector: string): Promise<void> {
    for (const { id } of this.#entries(connector)) await this.#remove(connector, id);
    this.#queues.delete(connector);
  }

  async #remove(connector: string, id: number): Promise<void> {
    await this.#dependencies.own.put(replayKey(connector, id), null);
    this.#ended.delete(replayKey(connector, id));
  }

  #entries(connector: string): readonly StoredReplay[] {
    return this.#dependencies.own.entries(replayPrefix(connector)).flatMap(([, value]) => storedReplay(value) ?? []);
  }

  async #inTurn<T>(connector: string, work: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(connector);
    if (queue === undefined) this.#queues.set(connector, (queue = new SerialQueue()));
    return queue.run(work);
  }
}

function ended(replay: StoredReplay, state: ReplayState, reason: string | null): StoredReplay {
  return { ...replay, state, reason, endedAt: Date.now() };
}

function assignment(connector: string, desired: ConnectorState, replay: StoredReplay): TaskAssignment {
  const { id, topic, group, partitions, selection, rate, chain } = replay;
  const own: ConnectorConfig = { ...desired.taskConfigs[0], 'consumer.override.group.id': group };
  return {
    id: { connector, task: 0, replay: id },
    type: 'sink',
    tasks: 1,
    connectorConfig: desired.appliedConfig ?? desired.config,
    taskConfig: withChain(own, chain ?? undefined),
    targetState: 'STARTED',
    replay: {
      ...{ topic, group, selection, rate },
      partitions: partitions.map(({ partition, from, end }) => ({ partition, from, end })),
      hasOwnChain: chain !== null,
    },
  };
}
