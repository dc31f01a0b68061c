import type { ConfigResolver } from '../../config/providers/config-resolver.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import { placeInReplay } from '../../connect/dead-letters/dead-letter.ts';
import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { wantedVersion } from '../../connect/plugins/plugins-of-config.ts';
import type { TaskClients } from '../../connect/tasks/task-clients.ts';
import { RequestError } from '../../errors.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { StageTracker } from '../../observe/stage.ts';
import type { ConnectorDirectory } from '../connector-directory.ts';
import type { ConnectorRequests } from '../connector-requests.ts';
import { hiddenInJson } from '../preview/hidden-json.ts';
import type { ConnectorValidation } from '../validation.ts';
import type { LetterReader } from './letter-reader.ts';
import { OffsetSet } from './offset-set.ts';
import { withChain } from './replay-chain.ts';
import type { Replays } from './replays.ts';
import { replayView, type StoredReplay } from './stored-replay.ts';

export interface ConnectorReplaysDependencies {
  readonly directory: Pick<ConnectorDirectory, 'config' | 'require'>;
  readonly requests: Pick<ConnectorRequests, 'mustOwn'>;
  readonly replays: Replays;
  readonly validation: Pick<ConnectorValidation, 'requireValidFor'>;
  readonly reader: Pick<LetterReader, 'stretches' | 'readLetters'>;
  readonly clients: Pick<TaskClients, 'admin'>;
  readonly plugins: PluginRegistry;
  readonly resolver: ConfigResolver;
  readonly secrets: SecretMask;
}

export interface ReplayOrder {
  readonly selection: LetterSelection;
  /** Options of transforms and predicates in place of the connector's own. */
  readonly chain: ConnectorConfig | undefined;
  /** Letters per second at most. */
  readonly rate: number;
  /** Who asks for it. */
  readonly by: string;
}

/** Of the topic: what is stored of a replay stays below the limit of OwnStore. */
const MAX_PARTITIONS = 1000;
const MAX_CHAIN_CHARACTERS = 64_000;
/** Records, and time, to count letters that failed again after a replay was interrupted. */
const MAX_COUNTED = 5_000_000;
const COUNT_TIMEOUT_MS = 60_000;
/** How long a group is looked for before its replay begins. */
const FIND_TIMEOUT_MS = 30_000;
const MAX_SELECTION_CHARACTERS = 64_000;

/** What clients ask of replays; the answers are JSON text without secrets. NotOwnerErrors where another worker has the connector. */
export class ConnectorReplays {
  readonly #dependencies: ConnectorReplaysDependencies;

  constructor(dependencies: ConnectorReplaysDependencies) {
    this.#dependencies = dependencies;
    dependencies.replays.onEnd({
      countFailed: (connector, replay) => this.#countFailed(connector, replay),
      forget: (connector, replay) => this.#forgetOffsets(connector, replay),
    });
  }

  /**
   * Begins to send letters through the pipeline of a sink; those that are written from now on are not among them.
   * @throws RequestError 404: no such connector, it has no dead-letter topic, or the topic no letter of the group; 400: the configuration is not valid; 409: a
   *   replay is running
   */
  async begin(connector: string, { selection, chain, rate, by }: ReplayOrder): Promise<string> {
    const { directory, requests, replays, validation, reader } = this.#dependencies;
    await requests.mustOwn(connector);
    const given = withChain(directory.config(connector), chain);
    const className = given['connector.class'] ?? '';
    const { plugin, config } = await validation.requireValidFor(className, given, new StageTracker());
    if (plugin.type !== 'sink') throw new RequestError(400, `Connector ${connector} is not a sink`);
    const { topic, partitions } = await reader.stretches(connector, config, selection);
    if (selection.group !== undefined) await this.#requireGroup(connector, config, selection);
    if (partitions.length > MAX_PARTITIONS) {
      throw new RequestError(
        400,
        `Topic ${topic} has more than ${String(MAX_PARTITIONS)} partitions: select some by offsets`,
      );
    }
    requireLength('transforms', chain ?? {}, MAX_CHAIN_CHARACTERS);
    requireLength('selection', selection, MAX_SELECTION_CHARACTERS);
    const replay = await replays.begin(connector, {
      ...{ topic, selection, rate },
      chain: chain ?? null,
      partitions: partitions.map(({ partition, next, end }) => ({ partition, from: next, end: Math.max(next, end) })),
      startedBy: by,
    });
    return this.#text(replayView(replay));
  }

  /** The last 20 of a connector, the newest first. */
  async list(connector: string): Promise<string> {
    this.#dependencies.directory.require(connector);
    const replays = await this.#dependencies.replays.list(connector);
    return this.#text({ replays: replays.map(replayView) });
  }

  async get(connector: string, id: number): Promise<string> {
    this.#dependencies.directory.require(connector);
    return this.#text(replayView(await this.#dependencies.replays.get(connector, id)));
  }

  /** Resolves when nothing of it is written any more. */
  async end(connector: string, id: number): Promise<string> {
    await this.#dependencies.requests.mustOwn(connector);
    return this.#text(replayView(await this.#dependencies.replays.end(connector, id)));
  }

  /** A group that is not found within the limits may be behind them. */
  async #requireGroup(connector: string, config: ConnectorConfig, selection: LetterSelection): Promise<void> {
    const { topic, selected, hasMore } = await this.#dependencies.reader.readLetters(
      { connector, config, selection },
      () => false,
      AbortSignal.timeout(FIND_TIMEOUT_MS),
    );
    if (selected > 0 || hasMore) return;
    throw new RequestError(404, `Topic ${topic} has no letters of group ${String(selection.group)} to replay`);
  }

  #text(view: object): string {
    return hiddenInJson(JSON.stringify(view), (text) => this.#dependencies.secrets.hide(text));
  }

  /** They stand behind the end of the replay, in whichever partition; one that was put twice may be there twice. */
  async #countFailed(connector: string, { group, partitions }: StoredReplay): Promise<number> {
    const { directory, resolver, reader } = this.#dependencies;
    const { config } = await resolver.resolve(directory.config(connector));
    const ends = new Map(partitions.map(({ partition, end }) => [partition, end]));
    const all = await reader.stretches(connector, config, {});
    const offsets = all.partitions.map(({ partition }) => ({ partition, from: ends.get(partition) ?? 0 }));
    const failed = new OffsetSet();
    const { hasMore } = await reader.readLetters(
      { connector, config, selection: { offsets }, limit: MAX_COUNTED },
      ({ replayed = '' }) => {
        const place = placeInReplay(group, replayed);
        if (place !== undefined) failed.add(place.partition, place.offset);
        return undefined;
      },
      AbortSignal.timeout(COUNT_TIMEOUT_MS),
    );
    if (hasMore) {
      throw new Error(`Not all of the records behind the replay were read, in ${String(COUNT_TIMEOUT_MS / 1000)} s`);
    }
    return failed.size;
  }

  async #forgetOffsets(connector: string, { group, topic, partitions }: StoredReplay): Promise<void> {
    const { directory, plugins, resolver, clients } = this.#dependencies;
    const { config } = await resolver.resolve(directory.config(connector));
    const wanted = wantedVersion(config, 'connector.plugin.version');
    const plugin = await plugins.load(plugins.find('connector', config['connector.class'] ?? '', wanted));
    if (plugin.type === 'sink') {
      // Named one by one: an empty list would mean all that the connector has.
      const offsets = partitions.map(({ partition }) => ({ topic, partition, offset: null }));
      const own = { ...config, 'consumer.override.group.id': group };
      if (offsets.length > 0) await plugin.alterOffsets?.(own, offsets);
    }
    const admin = clients.admin(connector, config);
    try {
      await admin.deleteGroup(group);
    } finally {
      await admin.close();
    }
  }
}

function requireLength(name: string, value: object, limit: number): void {
  if (JSON.stringify(value).length > limit) {
    throw new RequestError(400, `${name} has more than ${String(limit)} characters`);
  }
}
