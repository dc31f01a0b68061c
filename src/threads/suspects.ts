import { isDeepStrictEqual } from 'node:util';
import { BoundedMap } from '../data/bounded-map.ts';
import type { ConnectorConfig, PartitionOffset } from '../connect/api.ts';
import type { PoisonedRecord, TaskAssignment, TaskCare } from '../connect/task-assignment.ts';
import type { Place, RecordRange } from '../observe/work-place.ts';
import type { ThreadEnd } from './running-thread.ts';

interface Ending {
  readonly number: number;
  readonly message: string;
  readonly stack: string;
  readonly stage: PoisonedRecord['stage'];
  /** True if the record at which the thread ended is known. */
  readonly isExact: boolean;
  /**
   * False if the heap of the thread was full and the record is not known, because a full heap says little about the last
   * records.
   */
  readonly counts: boolean;
}

/** A range of records, one of which may have ended threads. `endings` describes the ends of these threads, oldest first. */
interface Suspect extends RecordRange {
  readonly endings: readonly Ending[];
}

interface ConnectorSuspects {
  readonly config: ConnectorConfig;
  readonly suspects: readonly Suspect[];
}

const MAX_CONNECTORS = 500;
const MAX_SUSPECTS = 200;
const MAX_STACK_LENGTH = 8000;
const ENDINGS_OF_POISONED = 2;
const MAX_ENDINGS = 10;

/**
 * Records of sinks at which threads of this worker have ended. They are stored by connector instead of by task, because
 * partitions move between the tasks of a connector. A second end reduces the suspects to the records that both ends
 * have in common. After two ends that count (`Ending.counts`), a record is considered poisoned if the last end
 * identified it. Suspects are removed when a task reports that all records up to them are stored or skipped, and when
 * the connector's configuration changes. They are kept in memory only.
 */
export class Suspects {
  readonly #connectors = new BoundedMap<string, ConnectorSuspects>(MAX_CONNECTORS);
  #lastNumber = 0;

  /** Adds the records at which a task ended its thread. `message` describes the end. */
  add({ id, type, connectorConfig }: TaskAssignment, end: ThreadEnd, message: string): void {
    if (type !== 'sink' || end.place === undefined) return;
    const { record, ranges } = end.place;
    const isExact = record !== undefined || (ranges.length === 1 && ranges.every(isOneRecord));
    const ending: Ending = {
      number: ++this.#lastNumber,
      message,
      stack: framesOf(end.error),
      stage: stageOf(end.place),
      isExact,
      counts: isExact || end.kind !== 'memory',
    };
    const found = record === undefined ? ranges : [record];
    const config = connectorConfig;
    this.#set(id.connector, { config, suspects: narrowed(this.#of(id.connector, config), found, ending) });
  }

  /** Returns the suspect and poisoned records of the task's connector, or `undefined` if there are none. */
  careFor({ id, connectorConfig }: TaskAssignment): TaskCare | undefined {
    const suspects = this.#of(id.connector, connectorConfig);
    if (suspects.length === 0) return undefined;
    return {
      suspects: suspects
        .filter((each) => !isPoisoned(each))
        .map(({ topic, partition, from, to }) => ({ topic, partition, from, to })),
      poisoned: suspects.filter(isPoisoned).map(poisonedRecord),
    };
  }

  passed(connector: string, { topic, partition, offset }: PartitionOffset): void {
    const known = this.#connectors.get(connector);
    if (known === undefined) return;
    const isBefore = (each: Suspect) => each.topic === topic && each.partition === partition && each.to <= offset;
    this.#set(connector, { ...known, suspects: known.suspects.filter((each) => !isBefore(each)) });
  }

  #of(connector: string, config: ConnectorConfig): readonly Suspect[] {
    const known = this.#connectors.get(connector);
    return known !== undefined && isDeepStrictEqual(known.config, config) ? known.suspects : [];
  }

  #set(connector: string, known: ConnectorSuspects): void {
    if (known.suspects.length === 0) this.#connectors.delete(connector);
    else this.#connectors.set(connector, { ...known, suspects: known.suspects.slice(-MAX_SUSPECTS) });
  }
}

/** Adds the records of an end. If they overlap suspects of earlier ends, these are reduced to the intersection. */
function narrowed(known: readonly Suspect[], found: readonly RecordRange[], ending: Ending): readonly Suspect[] {
  const overlapping = known.flatMap((suspect) => {
    const overlaps = found.flatMap((range) => overlap(suspect, range) ?? []);
    return overlaps.map((range): { earlier: Suspect; common: Suspect } => {
      return { earlier: suspect, common: { ...range, endings: [...suspect.endings, ending].slice(-MAX_ENDINGS) } };
    });
  });
  if (overlapping.length === 0) return [...known, ...found.map((range) => ({ ...range, endings: [ending] }))];
  const explained = new Set(overlapping.flatMap(({ earlier }) => earlier.endings.map(({ number }) => number)));
  const others = known.filter(({ endings }) => !endings.some(({ number }) => explained.has(number)));
  return [...others, ...overlapping.map(({ common }) => common)];
}

function overlap(a: RecordRange, b: RecordRange): RecordRange | undefined {
  if (a.topic !== b.topic || a.partition !== b.partition) return undefined;
  const from = Math.max(a.from, b.from);
  const to = Math.min(a.to, b.to);
  return from < to ? { topic: a.topic, partition: a.partition, from, to } : undefined;
}

function isOneRecord({ from, to }: RecordRange): boolean {
  return to - from === 1;
}

function isPoisoned({ endings }: Suspect): boolean {
  const isKnown = endings.at(-1)?.isExact === true;
  return isKnown && endings.filter(({ counts }) => counts).length >= ENDINGS_OF_POISONED;
}

function poisonedRecord({ topic, partition, from, endings }: Suspect): PoisonedRecord {
  const last = endings.at(-1);
  const messages = endings.map(({ message }, index) => `(${String(index + 1)}) ${message}`);
  return {
    topic,
    partition,
    offset: from,
    stage: last?.stage ?? 'put',
    message: `${String(endings.length)} threads have ended at this record: ${messages.join('; ')}`,
    stack: last?.stack ?? '',
  };
}

function stageOf({ stage }: Place): PoisonedRecord['stage'] {
  return stage === 'conversion' ? 'conversion' : 'put';
}

function framesOf(error: Error | undefined): string {
  const frames = (error?.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return frames.join('\n').slice(0, MAX_STACK_LENGTH);
}
