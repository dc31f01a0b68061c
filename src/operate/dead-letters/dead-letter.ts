import type { ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';

const CONTEXT_PREFIX = '__connect.errors.';
/** What Sluice says of a dead letter beyond Connect's context headers. */
const OWN_PREFIX = 'sluice.';
const REPLAY_ATTEMPT = `${OWN_PREFIX}replay.attempt`;
const REPLAYED_LETTER = `${OWN_PREFIX}replay.letter`;
const CAUSED_BY = 'Caused by: ';

/** Where a record came from before it became a dead letter. */
interface LetterOrigin {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A record of a dead-letter topic, with what its context headers say; what they do not say is `undefined`. */
export interface DeadLetter {
  /** The dead-letter topic. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Timestamp of the letter in its topic, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Time of the record before it became a letter; the timestamp is -1 when it had none. */
  readonly recordTime: Pick<ConsumedRecord, 'timestamp' | 'timestampType'>;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Those that the record had before: without `__connect.errors.…` and `sluice.…`. */
  readonly headers: readonly ConsumedHeader[];
  readonly origin: LetterOrigin | undefined;
  readonly connector: string | undefined;
  readonly task: number | undefined;
  readonly stage: string | undefined;
  /** The Java name of the exception. */
  readonly exception: string | undefined;
  readonly message: string | undefined;
  /** Class and message of the last cause in the stack trace; absent where the message says what is wrong. */
  readonly cause: string | undefined;
  /** The converter, transform or task class that failed. */
  readonly className: string | undefined;
  readonly sqlstate: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /** Row of the message, from 1. */
  readonly row: number | undefined;
  /** The replay that it failed in, from 1; 0 for a letter that was never replayed. */
  readonly attempt: number;
  /** Which letter of which replay it was then, as `replayHeaders` names it. */
  readonly replayed: string | undefined;
}

/**
 * A record of a dead-letter topic as a letter. Texts are taken as they are: whoever shows them hides secrets. A header that
 * comes twice counts as it stands last, because Connect appends its own to those of the record.
 */
export function deadLetter(record: ConsumedRecord): DeadLetter {
  const context = new Map<string, Buffer | null>();
  const headers: ConsumedHeader[] = [];
  for (const header of record.headers) {
    if (isLetterHeader(header.key)) context.set(header.key, header.value);
    else headers.push(header);
  }
  const of = (key: string): string | undefined => filled(context.get(key)?.toString());
  return {
    topic: record.topic,
    partition: record.partition,
    offset: record.offset,
    timestamp: record.timestamp,
    recordTime: recordTime(record, of),
    key: record.key,
    value: record.value,
    headers,
    origin: letterOrigin(of),
    connector: of(`${CONTEXT_PREFIX}connector.name`),
    task: wholeNumber(of(`${CONTEXT_PREFIX}task.id`)),
    stage: of(`${CONTEXT_PREFIX}stage`),
    className: of(`${CONTEXT_PREFIX}class.name`),
    exception: of(`${CONTEXT_PREFIX}exception.class.name`),
    message: of(`${CONTEXT_PREFIX}exception.message`),
    cause: causeOf(of),
    sqlstate: of(`${OWN_PREFIX}sqlstate`),
    table: of(`${OWN_PREFIX}table`),
    column: of(`${OWN_PREFIX}column`),
    row: wholeNumber(of(`${OWN_PREFIX}row`)),
    attempt: wholeNumber(of(REPLAY_ATTEMPT)) ?? 0,
    replayed: of(REPLAYED_LETTER),
  };
}

/** Only where the message ends with a colon. */
function causeOf(of: (key: string) => string | undefined): string | undefined {
  if (of(`${CONTEXT_PREFIX}exception.message`)?.trimEnd().endsWith(':') !== true) return undefined;
  const trace = of(`${CONTEXT_PREFIX}exception.stacktrace`) ?? '';
  const start = trace.lastIndexOf(CAUSED_BY);
  return start < 0 ? undefined : trace.slice(start + CAUSED_BY.length).split('\n', 1)[0];
}

/** `of`: the text of a header, `undefined` where there is none. */
function letterOrigin(of: (key: string) => string | undefined): LetterOrigin | undefined {
  const topic = of(`${CONTEXT_PREFIX}topic`);
  const [partition, offset] = [
    wholeNumber(of(`${CONTEXT_PREFIX}partition`)),
    wholeNumber(of(`${CONTEXT_PREFIX}offset`)),
  ];
  if (topic === undefined || partition === undefined || offset === undefined) return undefined;
  return { topic, partition, offset };
}

/** Letters of Java workers and of earlier versions have no header for it: then the timestamp of the letter is that of the record. */
function recordTime(record: ConsumedRecord, of: (key: string) => string | undefined): DeadLetter['recordTime'] {
  const text = of(`${OWN_PREFIX}timestamp`);
  const timestamp = text === '-1' ? -1 : (wholeNumber(text) ?? record.timestamp);
  const isAppendTime = of(`${OWN_PREFIX}timestamp.type`) === 'LogAppendTime';
  return { timestamp, timestampType: isAppendTime ? 'LogAppendTime' : 'CreateTime' };
}

/** Headers of the letter that comes of one that fails in a replay. `group`: the replay's. */
export function replayHeaders(group: string, { attempt, partition, offset }: DeadLetter): readonly ConsumedHeader[] {
  const replayed = `${group}/${String(partition)}/${String(offset)}`;
  return [
    { key: REPLAY_ATTEMPT, value: Buffer.from(String(attempt + 1)) },
    { key: REPLAYED_LETTER, value: Buffer.from(replayed) },
  ];
}

/** The place of the letter that failed, of the text in its header; `undefined`: it failed in another replay. */
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
export function originalRecord(letter: DeadLetter): ConsumedRecord {
  const { topic, partition, offset } = letter.origin ?? letter;
  const { recordTime: time, key, value, headers } = letter;
  return { topic, partition, offset, ...time, key, value, headers };
}

/** Whether a header tells of the failure, and not of the record. */
function isLetterHeader(key: string): boolean {
  return key.startsWith(CONTEXT_PREFIX) || key.startsWith(OWN_PREFIX);
}

/** Bytes of a letter that is kept in memory, about. */
export function letterBytes({ key, value, message }: DeadLetter): number {
  return (key?.length ?? 0) + (value?.length ?? 0) + (message?.length ?? 0);
}

function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
