export interface ProducedRecord {
  readonly topic: string;
  /** `null` lets the default partitioner choose the partition (murmur2 hash of the key; sticky without a key). */
  readonly partition: number | null;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly timestamp: number | null;
  readonly headers: readonly { readonly key: string; readonly value: Uint8Array | null }[];
}
