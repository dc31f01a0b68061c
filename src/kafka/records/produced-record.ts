export interface ProducedRecord {
  readonly topic: string;
  /**
   * `null` lets the producer choose the partition: by the murmur2 hash of the key, or, without a key, one random
   * partition per topic and call.
   */
  readonly partition: number | null;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly timestamp: number | null;
  readonly headers: readonly { readonly key: string; readonly value: Uint8Array | null }[];
}
