import type { ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';

const CONTEXT_PREFIX = '__connect.errors.';
/** Prefix of Sluice's own headers, beyond Connect's context headers. */
const OWN_PREFIX = 'sluice.';
const REPLAY_ATTEMPT = `${OWN_PREFIX}replay.attempt`;
const REPLAYED_RECORD = `${OWN_PREFIX}replay.letter`;
const CAUSED_BY = 'Caused by: ';

/** The position of the original record. */
interface RecordOrigin {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A record of a dead-letter topic, with the values of its context headers; `undefined`: there is no such header. */
export interface DeadLetterRecord {
  /** The dead-letter topic. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Timestamp of the record in the dead-letter topic, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Time of the original record; the timestamp is -1 if it had none. */
  readonly recordTime: Pick<ConsumedRecord, 'timestamp' | 'timestampType'>;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** The headers of the original record: without `__connect.errors.…` and `sluice.…`. */
  readonly headers: readonly ConsumedHeader[];
  readonly origin: RecordOrigin | undefined;
  readonly connector: string | undefined;
  readonly task: number | undefined;
  readonly stage: string | undefined;
  /** The Java name of the exception. */
  readonly exception: string | undefined;
  readonly message: string | undefined;
  /**
   * Class and message of the innermost cause in the stack trace. Only set if the message ends with a colon, because
   * such a message does not name the cause.
   */
  readonly cause: string | undefined;
  /** The converter, transform or task class that failed. */
  readonly className: string | undefined;
  readonly sqlstate: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /** Row within the message, from 1. */
  readonly row: number | undefined;
  /** Number of the replay attempt that failed; 0 if the record failed in the connector itself. */
  readonly attempt: number;
  /**
   * `group/partition/offset`: the consumer group of the replay, and the position of the dead-letter record that failed
   * again.
   */
  readonly replayed: string | undefined;
}

/**
 * Parses a record of a dead-letter topic. Texts are not changed: callers that show them must hide secrets. If a header
 * occurs twice, the last one counts, because Connect appends its context headers to the headers of the record.
 */
export function parseDeadLetter(record: ConsumedRecord): DeadLetterRecord {
  const context = new Map<string, Buffer | null>();
  const headers: ConsumedHeader[] = [];
  for (const header of record.headers) {
    if (isContextHeader(header.key)) context.set(header.key, header.value);
    else headers.push(header);
  }
  const headerText = (key: string): string | undefined => filled(context.get(key)?.toString());
  return {
    topic: record.topic,
    partition: record.partition,
    offset: record.offset,
    timestamp: record.timestamp,
    recordTime: recordTime(record, headerText),
    key: record.key,
    value: record.value,
    headers,
    origin: recordOrigin(headerText),
    connector: headerText(`${CONTEXT_PREFIX}connector.name`),
    task: wholeNumber(headerText(`${CONTEXT_PREFIX}task.id`)),
    stage: headerText(`${CONTEXT_PREFIX}stage`),
    className: headerText(`${CONTEXT_PREFIX}class.name`),
    exception: headerText(`${CONTEXT_PREFIX}exception.class.name`),
    message: headerText(`${CONTEXT_PREFIX}exception.message`),
    cause: causeOf(headerText),
    sqlstate: headerText(`${OWN_PREFIX}sqlstate`),
    table: headerText(`${OWN_PREFIX}table`),
    column: headerText(`${OWN_PREFIX}column`),
    row: wholeNumber(headerText(`${OWN_PREFIX}row`)),
    attempt: wholeNumber(headerText(REPLAY_ATTEMPT)) ?? 0,
    replayed: headerText(REPLAYED_RECORD),
  };
}

/**
 * The innermost cause in the stack trace, if the message ends with a colon and therefore does not name the cause;
 * otherwise `undefined`.
 */
function causeOf(headerText: (key: string) => string | undefined): string | undefined {
  if (headerText(`${CONTEXT_PREFIX}exception.message`)?.trimEnd().endsWith(':') !== true) return undefined;
  const trace = headerText(`${CONTEXT_PREFIX}exception.stacktrace`) ?? '';
  const start = trace.lastIndexOf(CAUSED_BY);
  return start < 0 ? undefined : trace.slice(start + CAUSED_BY.length).split('\n', 1)[0];
}

/** The position of the original record, from its context headers; `undefined` if one of them is missing. */
function recordOrigin(headerText: (key: string) => string | undefined): RecordOrigin | undefined {
  const topic = headerText(`${CONTEXT_PREFIX}topic`);
  const [partition, offset] = [
    wholeNumber(headerText(`${CONTEXT_PREFIX}partition`)),
    wholeNumber(headerText(`${CONTEXT_PREFIX}offset`)),
  ];
  if (topic === undefined || partition === undefined || offset === undefined) return undefined;
  return { topic, partition, offset };
}

/**
 * The time of the original record. Dead letters of Java workers and of earlier versions have no header for it, because
 * their own timestamp is that of the original record.
 */
function recordTime(
  record: ConsumedRecord,
  headerText: (key: string) => string | undefined,
): DeadLetterRecord['recordTime'] {
  const text = headerText(`${OWN_PREFIX}timestamp`);
  const timestamp = text === '-1' ? -1 : (wholeNumber(text) ?? record.timestamp);
  const isAppendTime = headerText(`${OWN_PREFIX}timestamp.type`) === 'LogAppendTime';
  return { timestamp, timestampType: isAppendTime ? 'LogAppendTime' : 'CreateTime' };
}

/** Headers of a record that fails again in a replay. `group`: the consumer group of the replay. */
export function replayHeaders(
  group: string,
  { attempt, partition, offset }: DeadLetterRecord,
): readonly ConsumedHeader[] {
  const replayed = `${group}/${String(partition)}/${String(offset)}`;
  return [
    { key: REPLAY_ATTEMPT, value: Buffer.from(String(attempt + 1)) },
    { key: REPLAYED_RECORD, value: Buffer.from(replayed) },
  ];
}

/**
 * Parses the header with the position of a record that failed in the replay of `group`; `undefined`: it failed in
 * another replay.
 */
export function placeInReplay(
  group: string,
  replayed: string,
): { readonly partition: number; readonly offset: number } | undefined {
  if (!replayed.startsWith(`${group}/`)) return undefined;
  const [partition, offset] = replayed
    .slice(group.length + 1)
    .split('/')
    .map(wholeNumber);
  return partition === undefined || offset === undefined ? undefined : { partition, offset };
}

/** The record as the connector consumed it. */
export function originalRecord(deadLetter: DeadLetterRecord): ConsumedRecord {
  const { topic, partition, offset } = deadLetter.origin ?? deadLetter;
  const { recordTime: time, key, value, headers } = deadLetter;
  return { topic, partition, offset, ...time, key, value, headers };
}

/** Whether a header describes the failure, not the record. */
function isContextHeader(key: string): boolean {
  return key.startsWith(CONTEXT_PREFIX) || key.startsWith(OWN_PREFIX);
}

/** Approximate memory of a dead-letter record, in bytes. */
export function recordBytes({ key, value, message }: DeadLetterRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0) + (message?.length ?? 0);
}

function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
