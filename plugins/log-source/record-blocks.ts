import {
  JSON_TEXT,
  RecordPacker,
  type PackedHeaders,
  type SourceBlock,
  type SourceCoordinates,
} from '../../src/index.ts';

const EXPECTED_BYTES = 65_536;

/** Collects the records of one poll that are written directly as JSON, in a block for each topic. */
export class RecordBlocks {
  readonly #partition: SourceCoordinates;
  readonly #headersOf: (topic: string) => PackedHeaders;
  readonly #packers = new Map<string, RecordPacker>();
  /** Number of records that were not taken yet. */
  count = 0;

  constructor(partition: SourceCoordinates, headersOf: (topic: string) => PackedHeaders) {
    this.#partition = partition;
    this.#headersOf = headersOf;
  }

  packerOf(topic: string): RecordPacker {
    let packer = this.#packers.get(topic);
    if (packer === undefined) {
      packer = new RecordPacker(topic, EXPECTED_BYTES, { headers: this.#headersOf(topic) });
      this.#packers.set(topic, packer);
    }
    return packer;
  }

  /**
   * Returns the records as blocks. The offset `after` is stored only after all these records were acknowledged.
   * @param before the offset that precedes the first of the records
   */
  take(before: SourceCoordinates, after: SourceCoordinates): SourceBlock[] {
    if (this.count === 0) return [];
    this.count = 0;
    const packed = [...this.#packers.values()].flatMap((packer) => packer.take(EXPECTED_BYTES));
    this.#packers.clear();
    return packed.map((each, index) => ({
      packed: each,
      keySchema: JSON_TEXT,
      valueSchema: JSON_TEXT,
      sourcePartition: this.#partition,
      offsetBefore: before,
      offsetAfter: index === packed.length - 1 ? after : before,
    }));
  }
}
