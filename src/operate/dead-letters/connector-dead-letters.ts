import type { ConnectorConfig } from '../../connect/api.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { joinedMessage, RequestError, toError } from '../../errors.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { StageTracker } from '../../observe/stage.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import { hiddenInJson } from '../preview/hidden-json.ts';
import type { ConnectorPreview } from '../preview/connector-preview.ts';
import type { PreviewedRecord } from '../preview/preview-answers.ts';
import { storedConnector } from '../preview/preview-secrets.ts';
import { readyConnector, type ReadyConnector } from '../preview/ready-connector.ts';
import type { ConnectorValidation, RawConnectorConfig } from '../../herder/validation.ts';
import { originalRecord, type DeadLetterRecord } from './dead-letter-record.ts';
import type { PreviewedDeadLetter, WholeDeadLetter } from './dead-letter-answers.ts';
import { DeadLetterGroups } from './dead-letter-groups.ts';
import { deadLetterTopic, type DeadLetterReader } from './dead-letter-reader.ts';
import { withChain } from '../preview/transform-options.ts';
import type { Replays } from './replays.ts';
import { SelectionMatcher } from './selection-matcher.ts';
import type { StoredReplay } from './stored-replay.ts';
import type { DeadLetterSelection } from '../../connect/dead-letters/dead-letter-selection.ts';

export interface ConnectorDeadLettersDependencies {
  readonly directory: Pick<ConnectorDirectory, 'config'>;
  readonly validation: Pick<ConnectorValidation, 'requireValidFor'>;
  readonly plugins: PluginRegistry;
  readonly preview: ConnectorPreview;
  readonly reader: DeadLetterReader;
  readonly replays: Pick<Replays, 'list'>;
  readonly secrets: SecretMask;
}

const READ_TIMEOUT_MS = 30_000;
const HEX_BYTES = 256;
const MAX_HEADERS = 50;
/** Limits of the answer about a single record. */
const MAX_HEX_BYTES = 65_536;
const MAX_ALL_HEADERS = 1000;
const MAX_TEXT = 2_000;
const MAX_PREVIEWED = 100;
const MAX_PREVIEWED_BYTES = 16_000_000;

/** Groups, previews and details of dead-letter records. Nothing is stored, and no offsets are committed. */
export class ConnectorDeadLetters {
  readonly #dependencies: ConnectorDeadLettersDependencies;

  constructor(dependencies: ConnectorDeadLettersDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Groups the dead-letter records among the first `limit` records of the topic. Returns the groups and the progress of
   * the reading as JSON text without secrets.
   * @throws RequestError 404: no such connector, or it has no dead-letter topic; 400: it is not a sink, or its
   * configuration is not valid
   */
  async groups(connector: string, limit: number, signal: AbortSignal): Promise<string> {
    const ready = await this.#ready(connector);
    const groups = new DeadLetterGroups();
    const sent = await this.#sent(connector, ready);
    const progress = await this.#dependencies.reader.readDeadLetters(
      { connector, config: ready.config, selection: {}, limit },
      (deadLetter) => {
        groups.add(deadLetter, sent.replayOf(deadLetter) !== undefined);
        return undefined;
      },
      withinLimit(signal),
    );
    const listed = groups.list();
    const decoded = await this.#decoded(
      ready,
      listed.flatMap(({ examples }) => examples),
      signal,
    );
    const { topic, scanned, selected, partitions, hasMore } = progress;
    return hiddenInJson(
      JSON.stringify({
        topic,
        scanned,
        letters: selected,
        hasMore,
        partitions,
        ungrouped: groups.ungrouped,
        groups: listed.map(({ cause, ...group }) => ({
          ...group,
          message: group.message && joinedMessage(group.message, cause),
          histogram: groups.times.histogram(group.id),
          source: 'topic',
          examples: group.examples.map((deadLetter) => exampleView(deadLetter, decoded.get(deadLetter), sent)),
        })),
      }),
      ready.hide,
    );
  }

  /**
   * Previews a replay of the first records of a selection, until there are 100 of them or they have 16 MB. Returns the
   * outcome of each as JSON text without secrets. `chain`: options of transforms and predicates that replace those of
   * the connector.
   * @throws RequestError 404: no such connector, or it has no dead-letter topic; 400: it is not a sink, or the
   * configuration is not valid
   */
  async preview(
    connector: string,
    selection: DeadLetterSelection,
    chain: ConnectorConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const ready = await this.#ready(connector);
    const deadLetters: DeadLetterRecord[] = [];
    let bytes = 0;
    const sent = await this.#sent(connector, ready);
    const progress = await this.#dependencies.reader.readDeadLetters(
      { connector, config: ready.config, selection },
      (deadLetter) => {
        deadLetters.push(deadLetter);
        bytes += (deadLetter.key?.length ?? 0) + (deadLetter.value?.length ?? 0);
        return deadLetters.length < MAX_PREVIEWED && bytes < MAX_PREVIEWED_BYTES;
      },
      withinLimit(signal),
    );
    const previewed = await this.#previewed(ready, deadLetters, withChain(ready.stored, chain), false, signal);
    const records = deadLetters.map((deadLetter, index): PreviewedDeadLetter => {
      const { faults = [], ...would } = previewed[index] ?? {};
      return { letter: recordView(deadLetter, sent), outcome: outcome(deadLetter, would, faults), ...would, faults };
    });
    const { topic, scanned, hasMore } = progress;
    return hiddenInJson(JSON.stringify({ topic, scanned, hasMore, records }), ready.hide);
  }

  /**
   * One dead-letter record as JSON text: the decoded record, the first 64 KiB of its key and value, the fault, and the
   * headers of the original record (at most 1,000).
   * @throws RequestError 404: no such connector, or it has no such dead-letter record; 400: it is not a sink, or its
   * configuration is not valid
   */
  async record(connector: string, partition: number, offset: number, signal: AbortSignal): Promise<string> {
    const ready = await this.#ready(connector);
    const found: DeadLetterRecord[] = [];
    const selection = { offsets: [{ partition, from: offset, to: offset }] };
    const { topic } = await this.#dependencies.reader.readDeadLetters(
      { connector, config: ready.config, selection },
      (deadLetter) => {
        found.push(deadLetter);
        return false;
      },
      withinLimit(signal),
    );
    const [deadLetter] = found;
    if (deadLetter === undefined) {
      const place = `partition ${String(partition)}, offset ${String(offset)}`;
      throw new RequestError(404, `Topic ${topic} has no record of connector ${connector} at ${place}`);
    }
    const decoded = await this.#decoded(ready, [deadLetter], signal);
    const bytes = { keyBytes: deadLetter.key?.length ?? null, valueBytes: deadLetter.value?.length ?? null };
    const sent = await this.#sent(connector, ready);
    const view = exampleView(deadLetter, decoded.get(deadLetter), sent, {
      hexBytes: MAX_HEX_BYTES,
      headers: MAX_ALL_HEADERS,
    });
    return hiddenInJson(JSON.stringify({ topic, ...view, ...bytes }), ready.hide);
  }

  async #ready(connector: string): Promise<ReadyConnector> {
    const ready = await readyConnector(connector, this.#dependencies);
    if (!ready.isSink) throw new RequestError(400, `Connector ${connector} is not a sink`);
    return ready;
  }

  async #sent(connector: string, { config }: ReadyConnector): Promise<SentRecords> {
    return new SentRecords(connector, deadLetterTopic(config) ?? '', await this.#dependencies.replays.list(connector));
  }

  /**
   * Decodes dead-letter records. If this fails, for example because the schema registry is unreachable, the answer has
   * the error in place of each decoded record.
   */
  async #decoded(
    ready: ReadyConnector,
    deadLetters: readonly DeadLetterRecord[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<DeadLetterRecord, WholeDeadLetter['record']>> {
    try {
      const views = await this.#previewed(ready, deadLetters, ready.stored, true, signal);
      return new Map(deadLetters.map((deadLetter, index) => [deadLetter, views[index]?.record ?? null]));
    } catch (error) {
      const unreadable = toError(error).message;
      return new Map(deadLetters.map((deadLetter) => [deadLetter, { unreadable }]));
    }
  }

  async #previewed(
    { className, stored }: ReadyConnector,
    deadLetters: readonly DeadLetterRecord[],
    config: RawConnectorConfig,
    decodeOnly: boolean,
    signal: AbortSignal,
  ): Promise<readonly PreviewView[]> {
    if (deadLetters.length === 0) return [];
    const { plugins, preview } = this.#dependencies;
    const records = deadLetters.map(originalRecord);
    const request = { config, stored: await storedConnector(stored, plugins), records, decodeOnly };
    const text = await preview.preview(className, request, new StageTracker(), signal);
    return (JSON.parse(text) as { readonly records: readonly PreviewView[] }).records;
  }
}

/**
 * Finds the stored replays that have sent a dead-letter record. A record that fails again becomes a new dead-letter
 * record, which no replay has sent yet.
 */
class SentRecords {
  readonly #replays: readonly { readonly replay: StoredReplay; readonly matcher: SelectionMatcher }[];

  /** `replays`: the newest first. */
  constructor(connector: string, topic: string, replays: readonly StoredReplay[]) {
    this.#replays = replays
      .filter((replay) => replay.topic === topic)
      .map((replay) => ({ replay, matcher: new SelectionMatcher(connector, replay.selection) }));
  }

  /** The id of the newest replay that has sent the record. */
  replayOf(deadLetter: DeadLetterRecord): number | undefined {
    const { partition, offset } = deadLetter;
    return this.#replays.find(
      ({ replay: { partitions }, matcher }) =>
        partitions.some((part) => part.partition === partition && part.from <= offset && offset < part.next) &&
        matcher.has(deadLetter),
    )?.replay.id;
  }
}

function withinLimit(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
}

/**
 * A record in the answer of ConnectorPreview. The answer about dead letters contains its rows, lines and statements
 * unchanged.
 */
type PreviewView = Partial<PreviewedRecord>;

/**
 * Whether one message contains the other. Two messages about the same fault may differ, because Connect appends the
 * position of the record to one of them.
 */
function isSameText(a = '', b = ''): boolean {
  return a !== '' && b !== '' && (a.includes(b) || b.includes(a));
}

function outcome(
  deadLetter: DeadLetterRecord,
  { dropped }: PreviewView,
  [fault]: PreviewedRecord['faults'],
): PreviewedDeadLetter['outcome'] {
  if (fault === undefined) return dropped === true ? 'dropped' : 'stored';
  const isSame =
    fault.sqlstate === undefined
      ? isSameText(fault.message, deadLetter.message)
      : fault.sqlstate === deadLetter.sqlstate && (deadLetter.table === undefined || fault.table === deadLetter.table);
  return isSame ? 'fails with the same fault' : 'fails with another fault';
}

/** The position, the origin and the fault of a dead-letter record, and the newest replay that has sent it. */
function recordView(deadLetter: DeadLetterRecord, sent: SentRecords) {
  const { partition, offset, timestamp, origin, task, attempt } = deadLetter;
  const replay = sent.replayOf(deadLetter);
  return { partition, offset, timestamp, origin, task, attempt, replay, fault: faultView(deadLetter) };
}

function faultView({
  stage,
  className,
  exception,
  message,
  cause,
  sqlstate,
  table,
  column,
}: DeadLetterRecord): WholeDeadLetter['fault'] {
  const text = message && joinedMessage(message, cause).slice(0, MAX_TEXT);
  return { stage: stage ?? 'UNKNOWN', class: className, exception, message: text, sqlstate, table, column };
}

function exampleView(
  deadLetter: DeadLetterRecord,
  record: WholeDeadLetter['record'] | undefined,
  sent: SentRecords,
  limits = { hexBytes: HEX_BYTES, headers: MAX_HEADERS },
): WholeDeadLetter {
  const hex = (bytes: Buffer | null) => bytes?.subarray(0, limits.hexBytes).toString('hex') ?? null;
  return {
    ...recordView(deadLetter, sent),
    record: record ?? null,
    keyHex: hex(deadLetter.key),
    valueHex: hex(deadLetter.value),
    headers: deadLetter.headers.slice(0, limits.headers).map(({ key, value }) => ({
      key,
      value: value?.subarray(0, MAX_TEXT).toString() ?? null,
    })),
  };
}
