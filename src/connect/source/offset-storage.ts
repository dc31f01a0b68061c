import type { SourceCoordinates } from '../../data/record.ts';
import type { ConnectorConfig } from '../api.ts';

export interface StoredOffset {
  readonly partition: SourceCoordinates;
  /** `null` removes the offset. */
  readonly offset: SourceCoordinates | null;
}

/** Where source offsets are kept. The herder supplies the store; the task side only reads and writes through this. */
export interface OffsetStorage {
  /** The stored offset, everything written before the call included; `null` when there is none. */
  read(connector: string, partition: SourceCoordinates): Promise<SourceCoordinates | null>;
  /** Resolves when all are durable; on rejection none may be assumed stored. */
  write(connector: string, offsets: readonly StoredOffset[]): Promise<void>;
  /** All partitions of a connector with an offset. */
  list(connector: string): Promise<readonly StoredOffset[]>;
}

/** The topic that source offsets are kept in, for producers that write them in transactions of their own. */
export interface OffsetTopic {
  readonly name: string;
  /** The records that `OffsetStorage.write` would write. */
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
  /** Where its tasks write them in their transactions; `undefined` where offsets are in no topic. */
  readonly topic: OffsetTopic | undefined;
  /** A transaction has written them to the topic. Never rejects. */
  committed(offsets: readonly StoredOffset[]): Promise<void>;
  close(): Promise<void>;
}

/** Offsets of all source connectors, wherever each wants them. */
export interface SourceOffsets {
  open(connector: string, config: ConnectorConfig): Promise<OpenOffsets>;
}
