import { randomBytes } from 'node:crypto';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { DeadLetterSelection } from '../../connect/dead-letters/dead-letter-selection.ts';
import type { ReplayProgress } from '../../connect/dead-letters/replay-assignment.ts';
import type { StoredJson } from '../../herder/stores/own-store.ts';
import type { ReplayAnswer } from './dead-letter-answers.ts';

export type ReplayState = 'RUNNING' | 'STOPPED' | 'DONE' | 'FAILED';

/** Numbers of records: read, selected, dropped by a transform, and failed again. */
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
  readonly selection: DeadLetterSelection;
  /** Options of transforms and predicates in place of the connector's own; `null`: the connector's own. */
  readonly chain: ConnectorConfig | null;
  readonly rate: number;
  readonly partitions: readonly StoredPartition[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly startedBy: string;
  readonly endedAt: number | null;
  /** Why it has ended, if the state alone does not say it. */
  readonly reason: string | null;
  /**
   * Whether the replay was resumed in another thread or worker, or after a restart. If so, `failed` may be too low
   * until the replay has ended.
   */
  readonly isResumed?: boolean | undefined;
}

interface StoredPartition {
  readonly partition: number;
  readonly from: number;
  readonly next: number;
  /**
   * The counts include all records before this offset. Only entries of earlier versions have this member: in these
   * entries, the counts may lag behind `next`.
   */
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

/** The connector in the key of a replay; `undefined`: the key is not that of a replay. */
export function connectorOfKey(key: string): string | undefined {
  const [, name] = /^replay\/([^/]+)\/\d+$/.exec(key) ?? [];
  return name === undefined ? undefined : decodeURIComponent(name);
}

export const REPLAY_PREFIX = PREFIX;

/** The name of the group is unique, because offsets of an earlier replay may still exist. */
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

/** Adds the progress of the task to `base`. */
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

/** A replay as `GET …/dead-letters/replays` shows it. */
export function replayView(replay: StoredReplay): ReplayAnswer {
  const { chain, selected, dropped, failed, startedAt, endedAt, partitions, isResumed: _, ...rest } = replay;
  return {
    ...rest,
    partitions: partitions.map(({ partition, from, next, end }) => ({ partition, from, next, end })),
    // Only the names of the transforms are shown, because their options may contain secrets.
    transforms: chain === null ? null : (chain['transforms'] ?? ''),
    selected,
    delivered: deliveredOf(replay),
    dropped,
    failed,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}

/**
 * Parses an entry of the store. `undefined`: the entry is not a replay, or a later version has written it in another
 * form.
 */
export function storedReplay(value: StoredJson | undefined): StoredReplay | undefined {
  return typeof value?.['id'] === 'number' && Array.isArray(value['partitions'])
    ? (value as unknown as StoredReplay)
    : undefined;
}

/** The replay after its end. */
export function ended(replay: StoredReplay, state: ReplayState, reason: string | null): StoredReplay {
  return { ...replay, state, reason, endedAt: Date.now() };
}
