import type { ConnectorConfig } from '../../connect/api.ts';
import type { TaskAssignment, TaskEvent } from '../../connect/task-assignment.ts';
import type { TaskHosting } from '../../connect/hosting/task-hosting.ts';
import { SerialQueue } from '../../async/serial-queue.ts';
import { RequestError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorState } from '../../herder/stores/config-state.ts';
import type { HerderListener } from '../../herder/herder-listener.ts';
import { mayWork, type Placement } from '../../herder/group/placement.ts';
import type { ConfigStore } from '../../herder/stores/config-store.ts';
import type { OwnStore } from '../../herder/stores/own-store.ts';
import { withChain } from '../preview/transform-options.ts';
import { RunningReplay } from './running-replay.ts';
import { ReplayFigures } from './replay-figures.ts';
import { KeptReplays } from './kept-replays.ts';
import { ended, newReplay, replayKey, type NewReplay, type ReplayState, type StoredReplay } from './stored-replay.ts';

export interface ReplaysDependencies {
  readonly own: OwnStore;
  readonly configs: Pick<ConfigStore, 'connector'>;
  readonly placement: Placement;
  readonly tasks: TaskHosting;
  readonly taskStopTimeoutMs: number;
  /** Hides secrets in a text. */
  readonly hide: (text: string) => string;
  readonly logger: Logger;
}

/** Called when a replay ends. */
export interface ReplayEnd {
  /** Counts the replay's records that failed again by reading the dead-letter topic. */
  readonly countFailed: (connector: string, replay: StoredReplay) => Promise<number>;
  /** Deletes the offsets that the replay has committed. */
  readonly forget: (connector: string, replay: StoredReplay) => Promise<void>;
}

const WRITE_EVERY_MS = 1000;
const MAX_REASON = 2000;

/**
 * Replays of dead letters. A connector can have one running replay: a task in addition to the tasks of the connector,
 * on the worker that owns the connector. `begin` and `end` are called only there. The replays are kept in OwnStore, so
 * that another worker that gets the connector resumes them.
 *
 * A replay: RUNNING -> DONE | FAILED | STOPPED.
 */
export class Replays implements HerderListener {
  readonly #dependencies: ReplaysDependencies;
  readonly #kept: KeptReplays;
  readonly #running = new Map<string, RunningReplay>();
  readonly figures = new ReplayFigures();
  readonly #queues = new Map<string, SerialQueue>();
  /** Keys of replays that have ended on this worker, although their entries in the store may still be RUNNING. */
  readonly #ended = new Set<string>();
  #replayEnd: ReplayEnd | undefined;
  #stopListening: (() => void) | undefined;
  #isStarted = false;

  constructor(dependencies: ReplaysDependencies) {
    this.#dependencies = dependencies;
    this.#kept = new KeptReplays(dependencies.own);
  }

  /** Must be called before any replay begins. */
  onEnd(replayEnd: ReplayEnd): void {
    this.#replayEnd = replayEnd;
  }

  /** Resumes the replays that were running. Called after the stores were read. */
  onStarted(): void {
    this.#isStarted = true;
    this.#stopListening = this.#kept.onRunning((connector, key) => {
      if (!this.#running.has(connector) && !this.#ended.has(key)) this.#reconcile(connector);
    });
    this.#reconcileAll();
  }

  onRebalanced(): void {
    if (this.#isStarted) this.#reconcileAll();
  }

  onConnectorChanged(connector: string): void {
    this.#reconcile(connector);
  }

  /** Stops the tasks. Another worker, or this one after its restart, resumes the replays. */
  async onStopping(): Promise<void> {
    this.#isStarted = false;
    this.#stopListening?.();
    await Promise.all([...this.#running.values()].map((running) => this.#release(running)));
  }

  #reconcileAll(): void {
    for (const connector of new Set([...this.#kept.connectors(), ...this.#running.keys()])) this.#reconcile(connector);
  }

  /** Reconciles in the background. */
  #reconcile(connector: string): void {
    const hasAny = this.#running.has(connector) || this.#kept.of(connector).length > 0;
    if (!hasAny) return;
    this.#inTurn(connector, () => this.#reconcileNow(connector)).catch((error: unknown) => {
      this.#dependencies.logger.error({ err: error, connector }, `Failed to resume the replay of ${connector}`);
    });
  }

  /** Resolves when the replays of connectors that moved to another worker have stopped here. */
  async onRevoked(): Promise<void> {
    const { placement } = this.#dependencies;
    const lost = [...this.#running.values()].filter(({ connector }) => !placement.ownsConnector(connector));
    await Promise.all(lost.map((running) => this.#release(running)));
  }

  /** The stored replays of a connector, the newest first. */
  async list(connector: string): Promise<readonly StoredReplay[]> {
    await this.#kept.refresh();
    const latest = this.#running.get(connector)?.latest;
    return this.#kept
      .of(connector)
      .map((replay) => (replay.id === latest?.id ? latest : replay))
      .sort((a, b) => b.id - a.id);
  }

  /** @throws RequestError 404: there is no replay with this id */
  async get(connector: string, id: number): Promise<StoredReplay> {
    const found = (await this.list(connector)).find((replay) => replay.id === id);
    if (found === undefined) throw new RequestError(404, `Connector ${connector} has no replay ${String(id)}`);
    return found;
  }

  /** @throws RequestError 409: a replay is running, or no task can start */
  async begin(connector: string, given: NewReplay): Promise<StoredReplay> {
    return this.#inTurn(connector, async () => {
      const kept = await this.list(connector);
      const running = kept.find(({ state }) => state === 'RUNNING');
      if (running !== undefined) {
        throw new RequestError(409, `Replay ${String(running.id)} of connector ${connector} is running`);
      }
      const desired = requireTasks(connector, this.#dependencies.configs.connector(connector));
      const group = desired.config['consumer.override.group.id'] ?? `connect-${connector}`;
      const replay = newReplay((kept[0]?.id ?? 0) + 1, group, given);
      this.#forgetEnded(await this.#kept.prune(connector));
      await this.#kept.put(connector, replay);
      this.#run(connector, desired, replay);
      return replay;
    });
  }

  /** Resolves once the replay no longer writes. @throws RequestError 404 */
  async end(connector: string, id: number): Promise<StoredReplay> {
    return this.#inTurn(connector, async () => {
      const running = this.#running.get(connector);
      if (running?.latest.id === id) return this.#finish(running, 'STOPPED', null);
      const replay = await this.get(connector, id);
      if (replay.state !== 'RUNNING') return replay;
      const stopped = ended(replay, 'STOPPED', null);
      await this.#kept.put(connector, stopped);
      return stopped;
    });
  }

  onReplayEvent(event: TaskEvent): void {
    const running = this.#running.get(event.id.connector);
    if (running === undefined || running.latest.id !== event.id.replay || running.hasEnded) return;
    if (event.state === 'FAILED') this.#finishSoon(running, 'FAILED', event.trace);
    if (event.state !== 'REPLAYED') return;
    const { progress } = event;
    const before = running.latest;
    if (!running.advance(progress)) return;
    this.figures.advanced(running.connector, before, running.latest);
    if (progress.isDone) this.#finishSoon(running, 'DONE', null);
    else running.writing ??= setTimeout(() => void this.#write(running), WRITE_EVERY_MS).unref();
  }

  async #write(running: RunningReplay): Promise<void> {
    running.writing = undefined;
    if (running.hasEnded || !mayWork(this.#dependencies.placement)) return;
    await this.#kept.put(running.connector, running.latest).catch((error: unknown) => {
      const { connector } = running;
      this.#dependencies.logger.warn({ err: error, connector }, 'Failed to store the progress of a replay');
    });
  }

  async #reconcileNow(connector: string): Promise<void> {
    const { configs, placement } = this.#dependencies;
    const desired = configs.connector(connector);
    const running = this.#running.get(connector);
    if (desired === undefined || !placement.ownsConnector(connector)) {
      if (running !== undefined) await this.#release(running);
      if (desired === undefined && placement.isLeader) await this.#forget(connector);
      return;
    }
    if (running !== undefined) {
      if (desired.targetState === 'STOPPED') await this.#finish(running, 'STOPPED', 'The connector was stopped');
      return;
    }
    await this.#kept.refresh();
    const isOpen = ({ id, state }: StoredReplay) => state === 'RUNNING' && !this.#ended.has(replayKey(connector, id));
    const replay = this.#kept.of(connector).find(isOpen);
    if (replay === undefined || !placement.ownsConnector(connector)) return;
    if (desired.targetState === 'STOPPED') {
      await this.#kept.put(connector, ended(replay, 'STOPPED', 'The connector was stopped'));
    } else if (desired.taskConfigs.length > 0) this.#run(connector, desired, { ...replay, isResumed: true });
  }

  #run(connector: string, desired: ConnectorState, replay: StoredReplay): void {
    this.figures.began(connector);
    this.#running.set(connector, new RunningReplay(connector, replay));
    this.#dependencies.tasks.start(assignment(connector, desired, replay));
  }

  /** Stops the task; the replay resumes on another worker or later. */
  async #release(running: RunningReplay): Promise<void> {
    if (running.hasEnded) return;
    // Progress that the task reports while it stops still counts.
    await this.#stopTask(running);
    await this.#write(running);
    running.hasEnded = true;
    this.#running.delete(running.connector);
    this.figures.ended(running.connector);
  }

  #finishSoon(running: RunningReplay, state: ReplayState, reason: string | null): void {
    const { connector, latest } = running;
    this.#inTurn(connector, () => this.#finish(running, state, reason)).catch((error: unknown) => {
      this.#dependencies.logger.error(
        { err: error, connector },
        `Failed to store the end of replay ${String(latest.id)}`,
      );
    });
  }

  async #finish(running: RunningReplay, state: ReplayState, reason: string | null): Promise<StoredReplay> {
    const { connector } = running;
    if (running.hasEnded) return running.latest;
    await this.#stopTask(running);
    const failed = await this.#countFailed(connector, running.latest);
    // The replay may have been released in the meantime.
    if (running.hasEnded) return running.latest;
    running.end(state, reason === null ? null : this.#dependencies.hide(reasonOf(reason)).slice(0, MAX_REASON), failed);
    this.#ended.add(replayKey(connector, running.latest.id));
    this.#running.delete(connector);
    this.figures.ended(connector);
    const { id, selected } = running.latest;
    this.#dependencies.logger.info(
      { connector },
      `Replay ${String(id)} of ${connector} is ${state}: ${String(selected)} ${selected === 1 ? 'record' : 'records'}, ${String(failed)} failed again`,
    );
    await this.#kept.put(connector, running.latest);
    await this.#replayEnd?.forget(connector, running.latest).catch((error: unknown) => {
      this.#dependencies.logger.warn(
        { connector },
        `Offsets of replay ${String(id)} are left in group ${running.latest.group}: ${toError(error).message}`,
      );
    });
    return running.latest;
  }

  /**
   * The number of records that failed again. If the replay was resumed, its previous task may not have reported its
   * last failures, so the records are counted in the dead-letter topic.
   */
  async #countFailed(connector: string, replay: StoredReplay): Promise<number> {
    if (replay.isResumed !== true || this.#replayEnd === undefined) return replay.failed;
    try {
      return Math.max(replay.failed, await this.#replayEnd.countFailed(connector, replay));
    } catch (error) {
      this.#dependencies.logger.warn(
        { connector },
        `Failed to count the records that failed again in replay ${String(replay.id)}; there may be more than ${String(replay.failed)}. ${toError(error).message}`,
      );
      return replay.failed;
    }
  }

  async #stopTask({ connector, latest: { id }, writing }: RunningReplay): Promise<void> {
    clearTimeout(writing);
    const { tasks, taskStopTimeoutMs } = this.#dependencies;
    await tasks.stop([{ connector, task: 0, replay: id }], taskStopTimeoutMs);
  }

  async #forget(connector: string): Promise<void> {
    this.#forgetEnded(await this.#kept.forget(connector));
    this.#queues.delete(connector);
    this.figures.forget(connector);
  }

  #forgetEnded(keys: readonly string[]): void {
    for (const key of keys) this.#ended.delete(key);
  }

  async #inTurn<T>(connector: string, work: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(connector);
    if (queue === undefined) this.#queues.set(connector, (queue = new SerialQueue()));
    return queue.run(work);
  }
}

/** @throws RequestError 409 */
function requireTasks(connector: string, desired: ConnectorState | undefined): ConnectorState {
  if (desired?.taskConfigs[0] !== undefined && desired.targetState !== 'STOPPED') return desired;
  throw new RequestError(409, `Connector ${connector} has no task configuration: it is stopped, or does not start`);
}

/** The innermost cause in a stack trace. */
function reasonOf(trace: string): string {
  const causes = trace.split('\n').filter((line) => line.startsWith('Caused by: '));
  return causes.at(-1)?.slice('Caused by: '.length) ?? trace.split('\n')[0] ?? '';
}

/**
 * The assignment of the replay's task. It has the configuration of the connector, with the transforms and the rate
 * limit of the replay, and with `errors.tolerance=all`, so that the replay does not end at the first error.
 */
function assignment(connector: string, desired: ConnectorState, replay: StoredReplay): TaskAssignment {
  const { id, topic, group, partitions, selection, rate, chain } = replay;
  const own: ConnectorConfig = { ...desired.taskConfigs[0], 'consumer.override.group.id': group };
  const limits = { 'rate.limit.records': String(rate), 'rate.limit.bytes': '-1', 'errors.tolerance': 'all' };
  return {
    id: { connector, task: 0, replay: id },
    type: 'sink',
    tasks: 1,
    connectorConfig: { ...withChain(desired.appliedConfig ?? desired.config, chain ?? undefined), ...limits },
    taskConfig: withChain(own, chain ?? undefined),
    targetState: 'STARTED',
    replay: {
      ...{ topic, group, selection },
      partitions: partitions.map(({ partition, from, next, counted = next, end }) => ({
        partition,
        from,
        counted,
        end,
      })),
    },
  };
}
