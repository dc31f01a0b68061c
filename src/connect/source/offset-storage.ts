import type { SourceCoordinates } from '../../data/record.ts';
import type { ConnectorConfig } from '../api.ts';

export interface StoredOffset {
  readonly partition: SourceCoordinates;
  /** `null` removes the offset. */
  readonly offset: SourceCoordinates | null;
}

/** Gives tasks access to the offset store, which belongs to the herder. */
export interface OffsetStorage {
  /** Resolves with the stored offset, or `null` if there is none. All writes before the call are taken into account. */
  read(connector: string, partition: SourceCoordinates): Promise<SourceCoordinates | null>;
  /** Resolves when all offsets are durable. After a rejection, any number of them may have been stored. */
  write(connector: string, offsets: readonly StoredOffset[]): Promise<void>;
  /** Resolves with the offsets of all partitions of a connector that have one. */
  list(connector: string): Promise<readonly StoredOffset[]>;
}

/** The topic of source offsets, for producers that write offsets in their own transactions. */
export interface OffsetTopic {
  readonly name: string;
  /** Returns the records that `OffsetStorage.write` would send. */
  encode(
    connector: string,
    offsets: readonly StoredOffset[],
  ): readonly OffsetRecord[] | Promise<readonly OffsetRecord[]>;
}

export interface OffsetRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** Access to the offsets of one connector. */
export interface OpenOffsets {
  readonly storage: OffsetStorage;
  /** The topic for writes in transactions; `undefined` if the offsets are not stored in a topic. */
  readonly topic: OffsetTopic | undefined;
  /** Called after a transaction has written the offsets to the topic. Never rejects. */
  committed(offsets: readonly StoredOffset[]): Promise<void>;
  close(): Promise<void>;
}

/** Access to the offsets of all source connectors. A connector may have its own offsets topic. */
export interface SourceOffsets {
  open(connector: string, config: ConnectorConfig): Promise<OpenOffsets>;
}
