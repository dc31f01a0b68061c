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
import { originalRecord, type DeadLetter } from './dead-letter.ts';
import type { PreviewedLetter, WholeLetter } from './letter-answers.ts';
import { LetterGroups } from './letter-groups.ts';
import { deadLetterTopic, type LetterReader } from './letter-reader.ts';
import { withChain } from '../preview/transform-options.ts';
import type { Replays } from './replays.ts';
import { SentLetters } from './sent-letters.ts';
import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';

export interface ConnectorDeadLettersDependencies {
  readonly directory: Pick<ConnectorDirectory, 'config'>;
  readonly validation: Pick<ConnectorValidation, 'requireValidFor'>;
  readonly plugins: PluginRegistry;
  readonly preview: ConnectorPreview;
  readonly reader: LetterReader;
  readonly replays: Pick<Replays, 'list'>;
  readonly secrets: SecretMask;
}

const READ_TIMEOUT_MS = 30_000;
const HEX_BYTES = 256;
const MAX_HEADERS = 50;
/** Limits of a record that is shown alone. */
const MAX_HEX_BYTES = 65_536;
const MAX_ALL_HEADERS = 1000;
const MAX_TEXT = 2_000;
const MAX_PREVIEWED = 100;
const MAX_PREVIEWED_BYTES = 16_000_000;

/** Groups, previews and details of dead-letter records. Nothing is written and nothing is committed. */
export class ConnectorDeadLetters {
  readonly #dependencies: ConnectorDeadLettersDependencies;

  constructor(dependencies: ConnectorDeadLettersDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The dead-letter records among the first `limit` records of the topic, in groups, and how far the topic was read; as
   * JSON text without secrets.
   * @throws RequestError 404: no such connector, or it has no dead-letter topic
   */
  async groups(connector: string, limit: number, signal: AbortSignal): Promise<string> {
    const ready = await this.#ready(connector);
    const groups = new LetterGroups();
    const sent = await this.#sent(connector, ready);
    const progress = await this.#dependencies.reader.readLetters(
      { connector, config: ready.config, selection: {}, limit },
      (letter) => {
        groups.add(letter, sent.replayOf(letter) !== undefined);
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
          examples: group.examples.map((letter) => exampleView(letter, decoded.get(letter), sent)),
        })),
      }),
      ready.hide,
    );
  }

  /**
   * The outcome of replaying the first 100 records of a selection now, as JSON text. `chain`: options of transforms and
   * predicates in place of the connector's own.
   * @throws RequestError 404: no such connector, or it has no dead-letter topic; 400: the configuration is not valid
   */
  async preview(
    connector: string,
    selection: LetterSelection,
    chain: ConnectorConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const ready = await this.#ready(connector);
    const letters: DeadLetter[] = [];
    let bytes = 0;
    const sent = await this.#sent(connector, ready);
    const progress = await this.#dependencies.reader.readLetters(
      { connector, config: ready.config, selection },
      (letter) => {
        letters.push(letter);
        bytes += (letter.key?.length ?? 0) + (letter.value?.length ?? 0);
        return letters.length < MAX_PREVIEWED && bytes < MAX_PREVIEWED_BYTES;
      },
      withinLimit(signal),
    );
    const previewed = await this.#previewed(ready, letters, withChain(ready.stored, chain), false, signal);
    const records = letters.map((letter, index): PreviewedLetter => {
      const { faults = [], ...would } = previewed[index] ?? {};
      return { letter: letterView(letter, sent), outcome: outcome(letter, would, faults), ...would, faults };
    });
    const { topic, scanned, hasMore } = progress;
    return hiddenInJson(JSON.stringify({ topic, scanned, hasMore, records }), ready.hide);
  }

  /**
   * One dead-letter record in full, as JSON text: the decoded record, the bytes, the fault, and all headers of the
   * original record.
   * @throws RequestError 404: the connector has no such dead-letter record
   */
  async letter(connector: string, partition: number, offset: number, signal: AbortSignal): Promise<string> {
    const ready = await this.#ready(connector);
    const found: DeadLetter[] = [];
    const selection = { offsets: [{ partition, from: offset, to: offset }] };
    const { topic } = await this.#dependencies.reader.readLetters(
      { connector, config: ready.config, selection },
      (letter) => {
        found.push(letter);
        return false;
      },
      withinLimit(signal),
    );
    const [letter] = found;
    if (letter === undefined) {
      const place = `partition ${String(partition)}, offset ${String(offset)}`;
      throw new RequestError(404, `Topic ${topic} has no record of connector ${connector} at ${place}`);
    }
    const decoded = await this.#decoded(ready, [letter], signal);
    const bytes = { keyBytes: letter.key?.length ?? null, valueBytes: letter.value?.length ?? null };
    const sent = await this.#sent(connector, ready);
    const view = exampleView(letter, decoded.get(letter), sent, { hexBytes: MAX_HEX_BYTES, headers: MAX_ALL_HEADERS });
    return hiddenInJson(JSON.stringify({ topic, ...view, ...bytes }), ready.hide);
  }

  async #ready(connector: string): Promise<ReadyConnector> {
    const ready = await readyConnector(connector, this.#dependencies);
    if (!ready.isSink) throw new RequestError(400, `Connector ${connector} is not a sink`);
    return ready;
  }

  async #sent(connector: string, { config }: ReadyConnector): Promise<SentLetters> {
    return new SentLetters(connector, deadLetterTopic(config) ?? '', await this.#dependencies.replays.list(connector));
  }

  /** If the schema registry is unreachable, the groups are still shown. */
  async #decoded(
    ready: ReadyConnector,
    letters: readonly DeadLetter[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<DeadLetter, WholeLetter['record']>> {
    try {
      const views = await this.#previewed(ready, letters, ready.stored, true, signal);
      return new Map(letters.map((letter, index) => [letter, views[index]?.record ?? null]));
    } catch (error) {
      const unreadable = toError(error).message;
      return new Map(letters.map((letter) => [letter, { unreadable }]));
    }
  }

  async #previewed(
    { className, stored }: ReadyConnector,
    letters: readonly DeadLetter[],
    config: RawConnectorConfig,
    decodeOnly: boolean,
    signal: AbortSignal,
  ): Promise<readonly PreviewView[]> {
    if (letters.length === 0) return [];
    const { plugins, preview } = this.#dependencies;
    const records = letters.map(originalRecord);
    const request = { config, stored: await storedConnector(stored, plugins), records, decodeOnly };
    const text = await preview.preview(className, request, new StageTracker(), signal);
    return (JSON.parse(text) as { readonly records: readonly PreviewView[] }).records;
  }
}

function withinLimit(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
}

/** Rows, lines and statements are copied into the answer unchanged. */
type PreviewView = Partial<PreviewedRecord>;

/** Connect adds the position of a record to the message of its fault. */
function isSameText(a = '', b = ''): boolean {
  return a !== '' && b !== '' && (a.includes(b) || b.includes(a));
}

function outcome(
  letter: DeadLetter,
  { dropped }: PreviewView,
  [fault]: PreviewedRecord['faults'],
): PreviewedLetter['outcome'] {
  if (fault === undefined) return dropped === true ? 'dropped' : 'stored';
  const isSame =
    fault.sqlstate === undefined
      ? isSameText(fault.message, letter.message)
      : fault.sqlstate === letter.sqlstate && (letter.table === undefined || fault.table === letter.table);
  return isSame ? 'fails with the same fault' : 'fails with another fault';
}

/** `replay`: the newest replay that has sent the record. */
function letterView(letter: DeadLetter, sent: SentLetters) {
  const { partition, offset, timestamp, origin, task, attempt } = letter;
  const replay = sent.replayOf(letter);
  return { partition, offset, timestamp, origin, task, attempt, replay, fault: faultView(letter) };
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
}: DeadLetter): WholeLetter['fault'] {
  const text = message && joinedMessage(message, cause).slice(0, MAX_TEXT);
  return { stage: stage ?? 'UNKNOWN', class: className, exception, message: text, sqlstate, table, column };
}

function exampleView(
  letter: DeadLetter,
  record: WholeLetter['record'] | undefined,
  sent: SentLetters,
  limits = { hexBytes: HEX_BYTES, headers: MAX_HEADERS },
): WholeLetter {
  const hex = (bytes: Buffer | null) => bytes?.subarray(0, limits.hexBytes).toString('hex') ?? null;
  return {
    ...letterView(letter, sent),
    record: record ?? null,
    keyHex: hex(letter.key),
    valueHex: hex(letter.value),
    headers: letter.headers.slice(0, limits.headers).map(({ key, value }) => ({
      key,
      value: value?.subarray(0, MAX_TEXT).toString() ?? null,
    })),
  };
}
