export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the epoch; -1 if the record has no timestamp. */
  readonly timestamp: number;
  readonly timestampType: 'CreateTime' | 'LogAppendTime';
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly ConsumedHeader[];
  /** Set while a dead-letter record is replayed: the dead-letter record itself. Offsets and failures refer to it. */
  readonly deadLetter?: ConsumedRecord | undefined;
}

export interface ConsumedHeader {
  readonly key: string;
  readonly value: Buffer | null;
}
