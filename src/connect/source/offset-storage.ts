import type { SourceCoordinates } from '../../data/record.ts';
import type { ConnectorConfig } from '../api.ts';

export interface StoredOffset {
  readonly partition: SourceCoordinates;
  /** `null` removes the offset. */
  readonly offset: SourceCoordinates | null;
}

/** The access of tasks to the offset store, which the herder owns. */
export interface OffsetStorage {
  /** Resolves with the stored offset, including all writes before the call; `null` if there is none. */
  read(connector: string, partition: SourceCoordinates): Promise<SourceCoordinates | null>;
  /** Resolves when all offsets are durable. After a rejection, some may be stored or none. */
  write(connector: string, offsets: readonly StoredOffset[]): Promise<void>;
  /** All partitions of a connector with an offset. */
  list(connector: string): Promise<readonly StoredOffset[]>;
}

/** The topic of source offsets, for producers that write them in their own transactions. */
export interface OffsetTopic {
  readonly name: string;
  /** The records that `OffsetStorage.write` would send. */
  encode(
    connector: string,
    offsets: readonly StoredOffset[],
  ): readonly OffsetRecord[] | Promise<readonly OffsetRecord[]>;
}

export interface OffsetRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** Offsets of one connector while they are in use. */
export interface OpenOffsets {
  readonly storage: OffsetStorage;
  /** The topic for writes in transactions; `undefined` if the offsets are not in a topic. */
  readonly topic: OffsetTopic | undefined;
  /** Called after a transaction has written the offsets to the topic. Never rejects. */
  committed(offsets: readonly StoredOffset[]): Promise<void>;
  close(): Promise<void>;
}

/** Offsets of all source connectors, some of which have their own offsets topic. */
export interface SourceOffsets {
  open(connector: string, config: ConnectorConfig): Promise<OpenOffsets>;
}
