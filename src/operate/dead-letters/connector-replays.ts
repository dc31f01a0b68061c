import type { ConnectorConfig } from '../../connect/api.ts';
import type { DeadLetterSelection } from '../../connect/dead-letters/dead-letter-selection.ts';
import { RequestError } from '../../errors.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { StageTracker } from '../../observe/stage.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import type { ConnectorRequests } from '../../herder/connector-requests.ts';
import { hiddenInJson } from '../preview/hidden-json.ts';
import type { ConnectorValidation } from '../../herder/validation.ts';
import type { DeadLetterReader } from './dead-letter-reader.ts';
import type { DeadLetterReadings } from './dead-letter-readings.ts';
import { withChain } from '../preview/transform-options.ts';
import type { Replays } from './replays.ts';
import type { ReplayOffsets } from './replay-offsets.ts';
import type { ReplayAnswer, ReplaysAnswer } from './dead-letter-answers.ts';
import { replayView } from './stored-replay.ts';

export interface ConnectorReplaysDependencies {
  readonly directory: Pick<ConnectorDirectory, 'config' | 'require'>;
  readonly requests: Pick<ConnectorRequests, 'mustOwn'>;
  readonly replays: Replays;
  readonly validation: Pick<ConnectorValidation, 'requireValidFor'>;
  readonly reader: Pick<DeadLetterReader, 'ranges'>;
  readonly readings: Pick<DeadLetterReadings, 'requireRecords' | 'failedRecords'>;
  readonly offsets: Pick<ReplayOffsets, 'forget'>;
  readonly secrets: SecretMask;
}

export interface ReplayOrder {
  readonly selection: DeadLetterSelection;
  /** Options of transforms and predicates in place of the connector's own. */
  readonly chain: ConnectorConfig | undefined;
  /** Maximum number of dead-letter records per second. */
  readonly rate: number;
  /** User and address of the sender of the request. */
  readonly by: string;
}

/**
 * Maximum number of partitions that a replay reads, so that the stored replay stays below the size limit of OwnStore.
 */
const MAX_PARTITIONS = 1000;
const MAX_SELECTION_CHARACTERS = 64_000;

/**
 * Requests of clients about replays. The answers are JSON text without secrets. `begin` and `end` throw a NotOwnerError
 * if another worker owns the connector.
 */
export class ConnectorReplays {
  readonly #dependencies: ConnectorReplaysDependencies;

  constructor(dependencies: ConnectorReplaysDependencies) {
    this.#dependencies = dependencies;
    dependencies.replays.onEnd({
      countFailed: (connector, replay) => dependencies.readings.failedRecords(connector, replay),
      forget: (connector, replay) =>
        dependencies.offsets.forget(connector, dependencies.directory.config(connector), replay),
    });
  }

  /**
   * Starts a replay, which sends dead-letter records through the pipeline of a sink again. It does not include records
   * that are written to the topic after this call.
   * @throws RequestError 404: no such connector, it has no dead-letter topic, or the topic has no record of the
   * selected group; 400: it is not a sink, its configuration is not valid, or the selection is too large; 409: a replay
   * is running, or the connector has no tasks
   */
  async begin(connector: string, { selection, chain, rate, by }: ReplayOrder): Promise<string> {
    const { directory, requests, replays, validation, reader, readings } = this.#dependencies;
    requireLength('selection', selection, MAX_SELECTION_CHARACTERS);
    await requests.mustOwn(connector);
    const given = withChain(directory.config(connector), chain);
    const className = given['connector.class'] ?? '';
    const { plugin, config } = await validation.requireValidFor(className, given, new StageTracker());
    if (plugin.type !== 'sink') throw new RequestError(400, `Connector ${connector} is not a sink`);
    const { topic, partitions } = await reader.ranges(connector, config, selection);
    if (selection.group !== undefined) await readings.requireRecords(connector, given, selection);
    if (partitions.length > MAX_PARTITIONS) {
      throw new RequestError(
        400,
        `Topic ${topic} has more than ${String(MAX_PARTITIONS)} partitions: select some by offsets`,
      );
    }
    const replay = await replays.begin(connector, {
      ...{ topic, selection, rate },
      chain: chain ?? null,
      partitions: partitions.map(({ partition, next, end }) => ({ partition, from: next, end: Math.max(next, end) })),
      startedBy: by,
    });
    return this.#text(replayView(replay));
  }

  /** The last 20 replays of a connector, the newest first. */
  async list(connector: string): Promise<string> {
    this.#dependencies.directory.require(connector);
    const replays = await this.#dependencies.replays.list(connector);
    return this.#text({ replays: replays.map(replayView) });
  }

  async get(connector: string, id: number): Promise<string> {
    this.#dependencies.directory.require(connector);
    return this.#text(replayView(await this.#dependencies.replays.get(connector, id)));
  }

  /** Stops a replay. Resolves once it no longer writes. */
  async end(connector: string, id: number): Promise<string> {
    await this.#dependencies.requests.mustOwn(connector);
    return this.#text(replayView(await this.#dependencies.replays.end(connector, id)));
  }

  #text(view: ReplayAnswer | ReplaysAnswer): string {
    return hiddenInJson(JSON.stringify(view), (text) => this.#dependencies.secrets.hide(text));
  }
}

/** @throws RequestError 400 */
function requireLength(name: string, value: object, limit: number): void {
  if (JSON.stringify(value).length > limit) {
    throw new RequestError(400, `${name} has more than ${String(limit)} characters`);
  }
}
