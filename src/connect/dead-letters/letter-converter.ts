import type { SinkRecord } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { ConsumedBlock, ConsumedRecord } from '../../kafka/api.ts';
import type { ConvertedRecords, RecordConversion } from '../pipeline/record-converter.ts';
import { Turn } from '../pipeline/turn.ts';
import { originalRecord } from './dead-letter.ts';
import { LetterBlock } from './letter-block.ts';
import { LetterCounter, type LetterReplay } from './letter-replay.ts';
import type { ReplayFailures } from './replay-failures.ts';

/** Makes of dead letters the records that the connector once consumed, and of these sink records; letters that are not selected are left out. */
export class LetterConverter implements RecordConversion {
  readonly #converter: RecordConversion;
  readonly #replay: LetterReplay;
  readonly #failures: Pick<ReplayFailures, 'converting'>;

  constructor(converter: RecordConversion, replay: LetterReplay, failures: Pick<ReplayFailures, 'converting'>) {
    this.#converter = converter;
    this.#replay = replay;
    this.#failures = failures;
  }

  async convert(consumed: readonly ConsumedRecord[]): Promise<ConvertedRecords> {
    const records: SinkRecord[] = [];
    const counter = new LetterCounter();
    const turn = new Turn();
    for (const [index, source] of consumed.entries()) {
      const failedBefore = this.#failures.converting;
      const isNew = this.#replay.isNew(source.partition, source.offset);
      const letter = this.#replay.selected(source);
      if (isNew) counter.add(letter !== undefined);
      if (letter !== undefined) {
        try {
          const converted = this.#converter.convertOne({ ...originalRecord(letter), letter: source });
          const record = converted instanceof Promise ? await converted : converted;
          if (record !== undefined) records.push(record);
          else if (isNew && this.#failures.converting === failedBefore) counter.dropped++;
        } catch (error) {
          return { records, failed: { index, error: toError(error) } };
        }
      }
      if (turn.isOver(source.value?.length ?? 0)) await turn.next();
    }
    const last = consumed.at(-1);
    if (last !== undefined) this.#replay.converted(last.partition, last.offset + 1, counter);
    return { records, failed: undefined };
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

  convertOne(source: ConsumedRecord): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    const letter = this.#replay.selected(source);
    return letter && this.#converter.convertOne({ ...originalRecord(letter), letter: source });
  }

  planned(): undefined {
    return undefined;
  }
}
