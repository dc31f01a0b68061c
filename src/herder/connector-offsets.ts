import type { ConfigResolver } from '../config/providers/config-resolver.ts';
import type { ConnectorConfig, ConnectorPlugin, SinkOffset, SourceOffset } from '../connect/api.ts';
import { coordinatesKey } from '../connect/source/offset-tracker.ts';
import { topicPartitionKey } from '../data/record.ts';
import type { OffsetStorage, SourceOffsets, StoredOffset } from '../connect/source/offset-storage.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { wantedVersion } from '../connect/plugins/plugins-of-config.ts';
import { withAdmin, type TaskClients } from '../connect/tasks/task-clients.ts';
import { RequestError, toError } from '../errors.ts';
import { ErrorCode } from '../kafka/errors/error-codes.ts';
import { CommitRefusedError, KafkaError } from '../kafka/errors/kafka-errors.ts';
import type { ConnectorState } from './stores/config-state.ts';
import type { ExactlyOnce } from './exactly-once-sources.ts';
import { sinkOffsets, sourceOffsets, type OffsetChange } from './offset-requests.ts';
import { previewOf, previewSink, type OffsetsPreview, type OffsetTarget } from './offsets-preview.ts';
import type { ConfigStore } from './stores/config-store.ts';

export interface ConnectorOffsetsDependencies {
  readonly configs: ConfigStore;
  readonly offsets: SourceOffsets;
  readonly plugins: PluginRegistry;
  readonly resolver: ConfigResolver;
  readonly clients: Pick<TaskClients, 'admin' | 'sinkOffsetReset'>;
  /** Resolves when the tasks of a stopped or deleted connector have ended or were abandoned. */
  readonly tasksEnded: (connector: string) => Promise<void>;
  /** Set if `exactly.once.source.support` is `enabled`. */
  readonly exactlyOnce: ExactlyOnce | undefined;
}

type Change = 'alter' | 'reset';

const BY_ROWS = 'The numbers refer to the rows that the tables currently contain.';

/** A connector with its configuration, in which variables have been replaced by their values. */
type ResolvedConnector = Pick<ConnectorState, 'name' | 'config'>;

/**
 * Offsets of connectors, as users see and change them. For a sink, they are the offsets of its consumer group; for a source,
 * the offsets in the offset store (docs/compatibility.md#the-management-api).
 */
export class ConnectorOffsets {
  readonly #dependencies: ConnectorOffsetsDependencies;

  constructor(dependencies: ConnectorOffsetsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Lists the offsets, regardless of the state of the connector. */
  async list(name: string): Promise<readonly StoredOffset[]> {
    const { state, plugin } = await this.#resolved(this.#dependencies.configs.require(name));
    return this.#stored(state, plugin);
  }

  /** Returns true if no offsets exist for a connector with this name and configuration. */
  async hasNone(name: string, given: ConnectorConfig): Promise<boolean> {
    const { config, plugin } = await this.#withValues(given);
    return (await this.#stored({ name, config }, plugin)).length === 0;
  }

  async #stored(state: ResolvedConnector, plugin: ConnectorPlugin): Promise<readonly StoredOffset[]> {
    if (plugin.type === 'source') return this.#withOffsets(state, (offsets) => offsets.list(state.name));
    return withAdmin(this.#dependencies.clients, state, async (admin) => {
      const committed = [...(await admin.groupOffsets(groupId(state)))];
      committed.sort((a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition));
      return committed.map(({ topic, partition, offset }) => ({
        partition: { kafka_topic: topic, kafka_partition: partition },
        offset: { kafka_offset: offset },
      }));
    });
  }

  /** Computes the effect of a change, regardless of the state of the connector. Does not write anything. */
  async preview(name: string, target: OffsetTarget): Promise<OffsetsPreview> {
    const { state, plugin } = await this.#resolved(this.#dependencies.configs.require(name));
    if (plugin.type === 'source') return this.#previewSource(state, plugin, target);
    const { clients } = this.#dependencies;
    const group = { groupId: groupId(state), offsetReset: clients.sinkOffsetReset(state.config) };
    return withAdmin(clients, state, (admin) => previewSink(admin, group, state.config, target));
  }

  async #previewSource(
    { name, config }: ResolvedConnector,
    plugin: ConnectorPlugin & { type: 'source' },
    target: OffsetTarget,
  ): Promise<OffsetsPreview> {
    const stored = await this.#withOffsets({ name, config }, (storage) => storage.list(name));
    const wanted = 'offsets' in target ? { offsets: sourceOffsets(target.offsets) } : target;
    const previewed = await callPlugin(() => plugin.previewOffsets?.(config, wanted, stored));
    if (previewed === undefined) {
      throw new RequestError(400, `${plugin.className} does not say what an offset change would do`);
    }
    const current = new Map(stored.map(({ partition, offset }) => [coordinatesKey(partition), offset]));
    const partitions = previewed.map((each) => ({
      ...each,
      current: current.get(coordinatesKey(each.partition)) ?? null,
    }));
    return previewOf(partitions, BY_ROWS);
  }

  /** Changes the offsets. Resolves with the success message. */
  async alter(name: string, changes: readonly OffsetChange[]): Promise<string> {
    const { state, plugin } = await this.#stopped(name);
    if (plugin.type === 'sink') {
      const offsets = sinkOffsets(changes);
      const isComplete = await callPlugin(() => plugin.alterOffsets?.(state.config, offsets));
      await this.#alterGroup(state, offsets);
      return success('alter', isComplete);
    }
    const offsets = sourceOffsets(changes);
    const isComplete = await callPlugin(() => plugin.alterOffsets?.(state.config, offsets));
    await this.#write(state, offsets);
    return success('alter', isComplete);
  }

  /**
   * Sets the initial offsets of a connector that is about to be created (KIP-995), and removes the offsets of a previous
   * connector with this name. Resolves with the success message.
   */
  async begin(name: string, config: ConnectorConfig, changes: readonly OffsetChange[]): Promise<string> {
    const { configs, tasksEnded } = this.#dependencies;
    await configs.refresh();
    if (configs.connector(name) !== undefined) throw new RequestError(409, `Connector ${name} already exists`);
    await tasksEnded(name);
    const { config: inUse, plugin } = await this.#withValues(config);
    const known = { name, config: inUse };
    if (plugin.type === 'sink') return success('alter', await this.#beginGroup(known, plugin, sinkOffsets(changes)));
    const wanted = sourceOffsets(changes);
    await fenced(this.#dependencies.exactlyOnce?.fencing.fenceDeleted(name, inUse));
    return this.#withOffsets(known, async (storage) => {
      const keys = new Set(wanted.map(({ partition }) => partition && coordinatesKey(partition)));
      const left = (await storage.list(name)).filter(({ partition }) => !keys.has(coordinatesKey(partition)));
      const offsets = [...left.map(({ partition }) => ({ partition, offset: null })), ...wanted];
      const isComplete = await callPlugin(() => plugin.alterOffsets?.(inUse, offsets));
      await storage.write(name, storable(offsets));
      return success('alter', isComplete);
    });
  }

  /** Removes all offsets. Resolves with the success message, even if there were no offsets. */
  async reset(name: string): Promise<string> {
    const { state, plugin } = await this.#stopped(name);
    if (plugin.type === 'sink') return success('reset', await this.#resetGroup(state, plugin));
    const known = await this.#withOffsets(state, (offsets) => offsets.list(name));
    const offsets = known.map(({ partition }) => ({ partition, offset: null }));
    const isComplete = await callPlugin(() => plugin.alterOffsets?.(state.config, offsets));
    await this.#write(state, offsets);
    return success('reset', isComplete);
  }

  /** Returns a stopped connector. Reads the config topic first, because the connector may have been stopped just now. */
  async #stopped(name: string): Promise<{ state: ConnectorState; plugin: ConnectorPlugin }> {
    const { configs, tasksEnded } = this.#dependencies;
    await configs.refresh();
    const state = configs.require(name);
    if (state.targetState !== 'STOPPED' || state.taskConfigs.length > 0) {
      throw new RequestError(
        400,
        `Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified connector by issuing a 'PUT' request to the '/connectors/${name}/stop' endpoint`,
      );
    }
    await tasksEnded(name);
    return this.#resolved(state);
  }

  /** Replaces the variables of the configuration with their values. */
  async #resolved(known: ConnectorState): Promise<{ state: ConnectorState; plugin: ConnectorPlugin }> {
    const { config, plugin } = await this.#withValues(known.config);
    return { state: { ...known, config }, plugin };
  }

  async #withValues(given: ConnectorConfig): Promise<{ config: ConnectorConfig; plugin: ConnectorPlugin }> {
    const { plugins, resolver } = this.#dependencies;
    const { config } = await resolver.resolve(given);
    const wanted = wantedVersion(config, 'connector.plugin.version');
    const plugin = await plugins.load(plugins.find('connector', config['connector.class'] ?? '', wanted));
    return { config, plugin };
  }

  async #write(state: ConnectorState, offsets: readonly SourceOffset[]): Promise<void> {
    await fenced(this.#dependencies.exactlyOnce?.sources.fenceZombies(state.name));
    const stored = storable(offsets);
    if (stored.length > 0) await this.#withOffsets(state, (storage) => storage.write(state.name, stored));
  }

  async #withOffsets<T>({ name, config }: ResolvedConnector, work: (offsets: OffsetStorage) => Promise<T>): Promise<T> {
    const opened = await this.#dependencies.offsets.open(name, config);
    try {
      return await work(opened.storage);
    } finally {
      await opened.close();
    }
  }

  async #beginGroup(
    known: ResolvedConnector,
    plugin: ConnectorPlugin & { type: 'sink' },
    wanted: readonly SinkOffset[],
  ): Promise<boolean> {
    const committed = await withAdmin(this.#dependencies.clients, known, (admin) => admin.groupOffsets(groupId(known)));
    const keys = new Set(wanted.map(({ topic, partition }) => topicPartitionKey(topic, partition)));
    const left = committed.filter(({ topic, partition }) => !keys.has(topicPartitionKey(topic, partition)));
    const offsets = [...left.map(({ topic, partition }) => ({ topic, partition, offset: null })), ...wanted];
    const isComplete = await callPlugin(() => plugin.alterOffsets?.(known.config, offsets));
    await this.#alterGroup(known, offsets);
    return isComplete ?? false;
  }

  async #alterGroup(state: ResolvedConnector, offsets: readonly SinkOffset[]): Promise<void> {
    const kept = offsets.flatMap(({ offset, ...partition }) => (offset === null ? [] : [{ ...partition, offset }]));
    const gone = offsets.filter(({ offset }) => offset === null);
    await withAdmin(this.#dependencies.clients, state, async (admin) => {
      try {
        await admin.alterGroupOffsets(groupId(state), kept);
        await admin.deleteGroupOffsets(groupId(state), gone);
      } catch (error) {
        throw groupFailure('alter', state.name, error);
      }
    });
  }

  async #resetGroup(state: ConnectorState, plugin: ConnectorPlugin & { type: 'sink' }): Promise<boolean> {
    return withAdmin(this.#dependencies.clients, state, async (admin) => {
      const committed = await admin.groupOffsets(groupId(state));
      const offsets = committed.map(({ topic, partition }) => ({ topic, partition, offset: null }));
      const isComplete = await callPlugin(() => plugin.alterOffsets?.(state.config, offsets));
      try {
        await admin.deleteGroup(groupId(state));
      } catch (error) {
        throw groupFailure('reset', state.name, error);
      }
      return isComplete ?? false;
    });
  }
}

async function fenced(fencing: Promise<void> | undefined): Promise<void> {
  try {
    await fencing;
  } catch (error) {
    throw new RequestError(500, 'Failed to perform zombie fencing for source connector prior to modifying offsets', {
      cause: error,
    });
  }
}

function storable(offsets: readonly SourceOffset[]): StoredOffset[] {
  return offsets.flatMap(({ partition, offset }) => (partition === null ? [] : [{ partition, offset }]));
}

function groupId({ name, config }: ResolvedConnector): string {
  return config['consumer.override.group.id'] ?? `connect-${name}`;
}

/** Converts an error of the plugin to a RequestError with status 400 and the same message. */
async function callPlugin<T>(call: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    throw new RequestError(400, toError(error).message, { cause: error });
  }
}

const BUSY: ReadonlySet<number> = new Set([
  ErrorCode.nonEmptyGroup,
  ErrorCode.groupSubscribedToTopic,
  ErrorCode.unknownMemberId,
]);

function groupFailure(change: Change, name: string, cause: unknown): RequestError {
  const what = `Failed to ${change} consumer group offsets for connector ${name}`;
  if (cause instanceof CommitRefusedError || (cause instanceof KafkaError && BUSY.has(cause.code))) {
    return new RequestError(
      500,
      `${what} either because its tasks haven't stopped completely yet or the connector was resumed before the request to ${change} its offsets could be successfully completed. If the connector is in a stopped state, this operation can be safely retried. If it doesn't eventually succeed, the Connect cluster may need to be restarted to get rid of the zombie sink tasks.`,
      { cause },
    );
  }
  const isUnknown = cause instanceof KafkaError && cause.code === ErrorCode.unknownTopicOrPartition;
  return new RequestError(isUnknown ? 400 : 500, `${what}: ${toError(cause).message}`, { cause });
}

function success(change: Change, isComplete = false): string {
  const done = change === 'alter' ? 'altered' : 'reset';
  if (isComplete) return `The offsets for this connector have been ${done} successfully`;
  return `The Connect framework-managed offsets for this connector have been ${done} successfully. However, if this connector manages offsets externally, they will need to be manually ${done} in the system that the connector uses.`;
}
