import type { SinkRecord } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { ConsumedBlock, ConsumedRecord } from '../../kafka/api.ts';
import type { ConvertedRecords, RecordConversion } from '../pipeline/record-converter.ts';
import { Turn } from '../pipeline/turn.ts';
import { originalRecord, type DeadLetter } from './dead-letter.ts';
import { LetterBlock } from './letter-block.ts';
import type { LetterReplay } from './letter-replay.ts';
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
    const isSelected: boolean[] = [];
    const failedBefore = this.#failures.converting;
    let empty = 0;
    const turn = new Turn();
    for (const [index, source] of consumed.entries()) {
      const letter = this.#replay.selected(source);
      isSelected.push(letter !== undefined);
      if (letter !== undefined) {
        try {
          const converted = this.#converter.convertOne({ ...originalRecord(letter), letter: source });
          const record = converted instanceof Promise ? await converted : converted;
          if (record === undefined) empty++;
          else records.push(record);
        } catch (error) {
          return { records, failed: { index, error: toError(error) } };
        }
      }
      if (turn.isOver(source.value?.length ?? 0)) await turn.next();
    }
    const offsets = consumed.map(({ offset }) => offset);
    const dropped = empty - (this.#failures.converting - failedBefore);
    const [first] = consumed;
    if (first !== undefined) this.#replay.converted(first.partition, offsets, isSelected, dropped);
    return { records, failed: undefined };
  }

  /** What is selected of a block, for a sink that reads messages where they lie; it is counted by this call. */
  async selected(block: ConsumedBlock): Promise<LetterBlock> {
    const indices: number[] = [];
    const letters: DeadLetter[] = [];
    const offsets: number[] = [];
    const isSelected: boolean[] = [];
    const turn = new Turn();
    for (let index = 0; index < block.count; index++) {
      const record = block.record(index);
      const letter = this.#replay.selected(record);
      offsets.push(record.offset);
      isSelected.push(letter !== undefined);
      if (letter !== undefined) {
        indices.push(index);
        letters.push(letter);
      }
      if (turn.isOver(record.value?.length ?? 0)) await turn.next();
    }
    this.#replay.converted(block.partition, offsets, isSelected, 0);
    return new LetterBlock(block, indices, letters);
  }

  convertOne(source: ConsumedRecord): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    const letter = this.#replay.selected(source);
    return letter && this.#converter.convertOne({ ...originalRecord(letter), letter: source });
  }

  planned(): undefined {
    return undefined;
  }
}
