import { randomBytes } from 'node:crypto';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import type { ReplayProgress } from '../../connect/dead-letters/replay-assignment.ts';
import type { StoredJson } from '../../herder/stores/own-store.ts';
import type { ReplayAnswer } from './letter-answers.ts';

export type ReplayState = 'RUNNING' | 'STOPPED' | 'DONE' | 'FAILED';

/** Letters that have been read, and what came of them. */
interface ReplayCounts {
  readonly read: number;
  readonly selected: number;
  readonly dropped: number;
  readonly failed: number;
}

/** A replay as OwnStore keeps it. */
export interface StoredReplay extends ReplayCounts {
  readonly id: number;
  readonly state: ReplayState;
  /** The dead-letter topic. */
  readonly topic: string;
  readonly group: string;
  readonly selection: LetterSelection;
  /** Options of transforms and predicates in place of the connector's own; `null`: the connector's own. */
  readonly chain: ConnectorConfig | null;
  readonly rate: number;
  readonly partitions: readonly StoredPartition[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly startedBy: string;
  readonly endedAt: number | null;
  /** Why it has ended, where that is not plain. */
  readonly reason: string | null;
  /** It went on in another thread or worker, or after a start: `failed` may lack letters until it has ended. */
  readonly isResumed?: boolean | undefined;
}

interface StoredPartition {
  readonly partition: number;
  readonly from: number;
  readonly next: number;
  /** In entries of earlier versions, whose counts may lag behind `next`: all before it is in the counts. */
  readonly counted?: number | undefined;
  readonly end: number;
}

export type NewReplay = Pick<StoredReplay, 'topic' | 'selection' | 'chain' | 'rate' | 'startedBy'> & {
  readonly partitions: readonly Omit<StoredPartition, 'next' | 'counted'>[];
};

const PREFIX = 'replay/';

export function replayPrefix(connector: string): string {
  return `${PREFIX}${encodeURIComponent(connector)}/`;
}

export function replayKey(connector: string, id: number): string {
  return `${replayPrefix(connector)}${String(id)}`;
}

/** The connector that an entry is of; `undefined`: it is no replay. */
export function connectorOfKey(key: string): string | undefined {
  const [, name] = /^replay\/([^/]+)\/\d+$/.exec(key) ?? [];
  return name === undefined ? undefined : decodeURIComponent(name);
}

export const REPLAY_PREFIX = PREFIX;

/** Its group is like no other, as offsets of an earlier one may be left. */
export function newReplay(id: number, connectorGroup: string, given: NewReplay): StoredReplay {
  return {
    ...given,
    id,
    state: 'RUNNING',
    group: `${connectorGroup}-replay-${String(id)}-${randomBytes(4).toString('hex')}`,
    partitions: given.partitions.map((part) => ({ ...part, next: part.from })),
    ...{ read: 0, selected: 0, dropped: 0, failed: 0 },
    startedAt: Date.now(),
    endedAt: null,
    reason: null,
  };
}

/** `base` and what its task has done since. */
export function advanced(base: StoredReplay, progress: ReplayProgress): StoredReplay {
  const reached = new Map(progress.positions.map(({ partition, next }) => [partition, next]));
  return {
    ...base,
    read: base.read + progress.read,
    selected: base.selected + progress.selected,
    dropped: base.dropped + progress.dropped,
    failed: base.failed + progress.failed,
    partitions: base.partitions.map((part) => {
      const next = reached.get(part.partition);
      return next === undefined ? part : { partition: part.partition, from: part.from, next, end: part.end };
    }),
  };
}

export function deliveredOf({ selected, dropped, failed }: StoredReplay): number {
  return Math.max(0, selected - dropped - failed);
}

/** What `GET …/dead-letters/replays` shows of one. */
export function replayView(replay: StoredReplay): ReplayAnswer {
  const { chain, selected, dropped, failed, startedAt, endedAt, partitions, isResumed: _, ...rest } = replay;
  return {
    ...rest,
    partitions: partitions.map(({ partition, from, next, end }) => ({ partition, from, next, end })),
    // Their options may have secrets.
    transforms: chain === null ? null : (chain['transforms'] ?? ''),
    selected,
    delivered: deliveredOf(replay),
    dropped,
    failed,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}

/** Entries are written by workers of this and of later versions. */
export function storedReplay(value: StoredJson | undefined): StoredReplay | undefined {
  return typeof value?.['id'] === 'number' && Array.isArray(value['partitions'])
    ? (value as unknown as StoredReplay)
    : undefined;
}

/** As it is when it has ended. */
export function ended(replay: StoredReplay, state: ReplayState, reason: string | null): StoredReplay {
  return { ...replay, state, reason, endedAt: Date.now() };
}
