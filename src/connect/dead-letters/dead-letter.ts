import type { ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';

const CONTEXT_PREFIX = '__connect.errors.';
/** What Sluice says of a dead letter beyond Connect's context headers. */
const OWN_PREFIX = 'sluice.';

/** Where a record came from before it became a dead letter. */
export interface LetterOrigin {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A record of a dead-letter topic, with what its context headers say. What they do not say is `undefined`. */
export interface DeadLetter {
  /** The dead-letter topic. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Of the record as it was consumed, in milliseconds since the epoch; -1 when it had none. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Those that the record had before: without `__connect.errors.…` and `sluice.…`. */
  readonly headers: readonly ConsumedHeader[];
  readonly origin: LetterOrigin | undefined;
  readonly connector: string | undefined;
  readonly task: number | undefined;
  readonly stage: string | undefined;
  /** The converter, transform or task class that failed. */
  readonly className: string | undefined;
  /** The Java name of the exception. */
  readonly exception: string | undefined;
  readonly message: string | undefined;
  readonly sqlstate: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /** Row of the message, from 1. */
  readonly row: number | undefined;
  /** The replay that it failed in, from 1; 0 for a letter that was never replayed. */
  readonly attempt: number;
}

/**
 * A record of a dead-letter topic as a letter. Texts are taken as they are: whoever shows them hides secrets. A header that
 * comes twice counts as it stands last, because Connect appends its own to those of the record.
 */
export function deadLetter(record: ConsumedRecord): DeadLetter {
  const context = new Map<string, string>();
  const headers: ConsumedHeader[] = [];
  for (const header of record.headers) {
    if (isLetterHeader(header.key)) context.set(header.key, header.value?.toString() ?? '');
    else headers.push(header);
  }
  const connect = (name: string): string | undefined => filled(context.get(CONTEXT_PREFIX + name));
  const own = (name: string): string | undefined => filled(context.get(OWN_PREFIX + name));
  const topic = connect('topic');
  const [partition, offset] = [wholeNumber(connect('partition')), wholeNumber(connect('offset'))];
  const hasOrigin = topic !== undefined && partition !== undefined && offset !== undefined;
  return {
    topic: record.topic,
    partition: record.partition,
    offset: record.offset,
    timestamp: record.timestamp,
    key: record.key,
    value: record.value,
    headers,
    origin: hasOrigin ? { topic, partition, offset } : undefined,
    connector: connect('connector.name'),
    task: wholeNumber(connect('task.id')),
    stage: connect('stage'),
    className: connect('class.name'),
    exception: connect('exception.class.name'),
    message: connect('exception.message'),
    sqlstate: own('sqlstate'),
    table: own('table'),
    column: own('column'),
    row: wholeNumber(own('row')),
    attempt: wholeNumber(own('replay.attempt')) ?? 0,
  };
}

/** The record as the connector consumed it. */
export function originalRecord(letter: DeadLetter): ConsumedRecord {
  const { topic, partition, offset } = letter.origin ?? letter;
  const { timestamp, key, value, headers } = letter;
  return { topic, partition, offset, timestamp, timestampType: 'CreateTime', key, value, headers };
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
