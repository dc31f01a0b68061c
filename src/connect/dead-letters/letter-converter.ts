import type { SinkRecord } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { ConsumedBlock, ConsumedRecord } from '../../kafka/api.ts';
import type { ConvertedRecords, RecordConversion } from '../pipeline/record-converter.ts';
import type { StageTimes } from '../pipeline/stage-times.ts';
import { Turn } from '../pipeline/turn.ts';
import { deadLetter, originalRecord } from './dead-letter.ts';
import { LetterBlock } from './letter-block.ts';
import { LetterCounter, type LetterReplay } from './letter-replay.ts';
import type { ReplayFailures } from './replay-failures.ts';

type Failures = Pick<ReplayFailures, 'converting' | 'isCounting'>;

interface ConverterOptions {
  readonly replay: LetterReplay;
  readonly failures: Failures;
}

/** Letters of one partition. */
interface Letters {
  readonly count: number;
  readonly partition: number;
  readonly offset: (index: number) => number;
  /** The letter as it was read; `undefined`: it is not selected. */
  readonly selected: (index: number) => ConsumedRecord | undefined;
}

/** Makes of dead letters the records that the connector once consumed, and of these sink records; letters that are not selected are left out. */
export class LetterConverter implements RecordConversion {
  readonly #converter: RecordConversion;
  readonly #replay: LetterReplay;
  readonly #failures: Failures;

  /** `hasTransforms`: they may leave out letters, also of those that are only counted. */
  constructor(converter: RecordConversion, { replay, failures }: ConverterOptions, hasTransforms: boolean) {
    this.#converter = converter;
    this.#replay = replay;
    this.#failures = failures;
    replay.recountBy((block, until) => this.#recount(block, until, hasTransforms));
  }

  get times(): StageTimes {
    return this.#converter.times;
  }

  async convert(consumed: readonly ConsumedRecord[]): Promise<ConvertedRecords> {
    return this.#convert({
      count: consumed.length,
      partition: consumed[0]?.partition ?? -1,
      offset: (index) => consumed[index]?.offset ?? -1,
      selected: (index) => {
        const source = consumed[index];
        return source !== undefined && this.#replay.selected(source) !== undefined ? source : undefined;
      },
    });
  }

  /** As `convert`; of letters that are not selected no records are made. */
  async convertBlock(block: ConsumedBlock): Promise<ConvertedRecords> {
    const { count, partition, offsets } = block;
    return this.#convert({
      ...{ count, partition },
      offset: (index) => offsets[index] ?? -1,
      selected: (index) => (this.#replay.look(block, index).isPicked ? block.record(index) : undefined),
    });
  }

  async #convert({ count, partition, offset, selected }: Letters): Promise<ConvertedRecords> {
    const records: SinkRecord[] = [];
    const counter = new LetterCounter();
    const turn = new Turn();
    for (let index = 0; index < count; index++) {
      const failedBefore = this.#failures.converting;
      const isNew = this.#replay.isNew(partition, offset(index));
      const source = selected(index);
      if (isNew) counter.add(source !== undefined);
      if (source !== undefined) {
        try {
          const converted = this.#convertSelected(source);
          const record = converted instanceof Promise ? await converted : converted;
          if (record !== undefined) records.push(record);
          else if (isNew && this.#failures.converting === failedBefore) counter.dropped++;
        } catch (error) {
          return { records, failed: { index, error: toError(error) } };
        }
      }
      if (turn.isOver(source?.value?.length ?? 0)) await turn.next();
    }
    if (count > 0) this.#replay.converted(partition, offset(count - 1) + 1, counter);
    return { records, failed: undefined };
  }

  #convertSelected(source: ConsumedRecord): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    return this.#converter.convertOne({ ...originalRecord(deadLetter(source)), letter: source });
  }

  /** What is selected of a block, for a sink that reads messages where they lie; it is counted by this call. */
  async selected(block: ConsumedBlock): Promise<LetterBlock> {
    const { partition, offsets, count } = block;
    const indices = new Int32Array(count);
    const counter = new LetterCounter();
    let selected = 0;
    let hasHeaders = false;
    const turn = new Turn();
    for (let index = 0; index < count; index++) {
      const { isPicked, hasOwnHeaders } = this.#replay.look(block, index);
      if (this.#replay.isNew(partition, offsets[index] ?? -1)) counter.add(isPicked);
      if (isPicked) {
        indices[selected++] = index;
        hasHeaders ||= hasOwnHeaders;
      }
      if (turn.isOver(0)) await turn.next();
    }
    this.#replay.converted(partition, (offsets[count - 1] ?? -1) + 1, counter);
    return new LetterBlock(block, indices.subarray(0, selected), hasHeaders);
  }

  async #recount(block: ConsumedBlock, until: number, hasTransforms: boolean): Promise<LetterCounter> {
    const { partition, offsets, count } = block;
    const counter = new LetterCounter();
    const turn = new Turn();
    this.#failures.isCounting = true;
    try {
      for (let index = 0; index < count; index++) {
        const offset = offsets[index] ?? -1;
        if (offset >= until) break;
        if (!this.#replay.isNew(partition, offset)) continue;
        const { isPicked } = this.#replay.look(block, index);
        counter.add(isPicked);
        if (isPicked && hasTransforms && (await this.#isDropped(block.record(index)))) counter.dropped++;
        if (turn.isOver(0)) await turn.next();
      }
    } finally {
      this.#failures.isCounting = false;
    }
    return counter;
  }

  async #isDropped(source: ConsumedRecord): Promise<boolean> {
    const failedBefore = this.#failures.converting;
    return (await this.convertOne(source)) === undefined && this.#failures.converting === failedBefore;
  }

  convertOne(source: ConsumedRecord): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    return this.#replay.selected(source) && this.#convertSelected(source);
  }

  planned(): undefined {
    return undefined;
  }
}
