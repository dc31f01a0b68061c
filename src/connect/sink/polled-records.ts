import { topicPartitionKey, type SinkRecord } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { RecordBlock, ConsumedRecord } from '../../kafka/api.ts';
import type { PartitionOffset, SinkTask } from '../api.ts';
import type { RecordRange } from '../../observe/work-place.ts';
import {
  SinkRecordConverter,
  type ConvertedRecords,
  type Converters,
  type RecordConversion,
} from '../pipeline/record-converter.ts';
import { ChainPlans } from '../pipeline/chain-plans.ts';
import type { TransformationChain } from '../pipeline/transformation-chain.ts';
import { Turn } from '../pipeline/turn.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';
import { RecordCare, type Step } from './record-care.ts';
import { BlockConversion } from './block-conversion.ts';

/**
 * Called when the task has accepted the records before `end`. `count` is the number of polled records, and `sent` that of
 * the records that were passed to the task. The task may convert the records of a block later, so all of them count as sent.
 */
export type OnPut = (end: PartitionOffset, count: number, sent: number) => void;

/** Records of one partition, in the form in which the task receives them, and the offset after them. */
interface Portion {
  readonly content: BlockConversion | readonly SinkRecord[];
  /** Number of polled records, including those that were dropped or skipped. */
  readonly count: number;
  /** Offset of the first record. */
  readonly from: number;
  readonly end: PartitionOffset;
  /** True if these records must be put separately and committed before any others are put. */
  readonly isCareful: boolean;
}

export interface PolledRecordsSettings {
  readonly converters: Converters;
  readonly chain: TransformationChain;
  readonly care: RecordCare;
}

/**
 * Polled records of a sink task that wait for `put`. They are passed as blocks if the task has `putBlock` and the
 * converters and transforms support blocks, and as records otherwise.
 *
 * States: empty --take--> waiting --put--> empty. After a failed `put`, and after a step of suspect records, the
 * remaining records are still waiting.
 *
 * If a record cannot be converted and the error policy does not skip it, `failure` is set. The records before it are
 * put, but later records of its partition are not. Suspect records (see RecordCare) are put in steps.
 */
export class PolledRecords {
  readonly #task: SinkTask;
  readonly #converter: RecordConversion;
  readonly #converters: Converters;
  readonly care: RecordCare;
  readonly #plans: ChainPlans | undefined;
  readonly #readsStructs: boolean;
  readonly #putsBlocks: boolean;
  #portions: Portion[] = [];
  /** Conversion failures by partition. */
  readonly #failures = new Map<string, Error>();

  constructor(task: SinkTask, converter: RecordConversion, { converters, chain, care }: PolledRecordsSettings) {
    this.#task = task;
    this.#converter = converter;
    this.care = care;
    this.#converters = converters;
    const { value } = converters;
    this.#plans = chain.isPlannable && !chain.empty ? new ChainPlans(chain) : undefined;
    this.#readsStructs = value.readStructs !== undefined && (chain.empty || this.#plans !== undefined);
    const passes = this.#readsStructs || (value.passesMessages === true && chain.empty);
    this.#putsBlocks = task.putBlock !== undefined && passes;
    chain.times.isInPut = this.#putsBlocks;
  }

  get count(): number {
    return this.#portions.reduce((count, portion) => count + portion.count, 0);
  }

  get isEmpty(): boolean {
    return this.#portions.length === 0;
  }

  /** True if the next call of `put` puts a single step, which must be committed afterwards. */
  get isCareful(): boolean {
    return this.#portions[0]?.isCareful === true;
  }

  /** Returns the records of the next call of `put`, as one range for each partition. */
  next(): { readonly count: number; readonly ranges: readonly RecordRange[] } {
    const ranges = new Map<string, RecordRange>();
    let count = 0;
    for (const portion of this.#nextPortions()) {
      const { topic, partition, offset } = portion.end;
      const key = topicPartitionKey(topic, partition);
      const from = ranges.get(key)?.from ?? portion.from;
      ranges.set(key, { topic, partition, from, to: offset });
      count += portion.count;
    }
    return { count, ranges: [...ranges.values()] };
  }

  /**
   * Returns true if portions of the topic are waiting for `put`, even if all of their records were dropped. Only then is the
   * topic reported as active.
   */
  waitsFor(topic: string): boolean {
    return this.#portions.some(({ count, end }) => count > 0 && end.topic === topic);
  }

  /** Set if the task must fail after all waiting records have been put. */
  get failure(): Error | undefined {
    for (const failure of this.#failures.values()) return failure;
    return undefined;
  }

  /** Converts the records. Does not reject if a record cannot be converted; see `failure`. */
  async take(blocks: readonly RecordBlock[]): Promise<void> {
    for (const block of blocks) {
      const { topic, partition, offsets, count } = block;
      if (this.#hasFailed(topic, partition)) continue;
      if (this.care.concerns(block)) {
        await this.#takeSteps(block);
        continue;
      }
      const all = { from: 0, to: count, isCareful: false };
      if (block.records !== undefined) {
        this.#add(block, all, await this.#converter.convert(block.records));
        continue;
      }
      const content = new BlockConversion(block, this.#converter, this.#converters, this.#plans);
      if (this.#putsBlocks && (await convertsAside(block, this.#converters))) {
        const end = { topic, partition, offset: (offsets[count - 1] ?? -1) + 1 };
        this.#portions.push({ content, count, from: offsets[0] ?? 0, end, isCareful: false });
        continue;
      }
      const isPlanned = this.#readsStructs && this.#plans !== undefined;
      this.#add(block, all, await (isPlanned ? content.records() : this.#converter.convert(recordsOf(block))));
    }
  }

  async #takeSteps(block: RecordBlock): Promise<void> {
    for (const step of this.care.steps(block)) {
      const source = Array.from({ length: step.to - step.from }, (_, index) => block.record(step.from + index));
      const converted =
        step.poisoned === undefined
          ? await this.#converter.convert(source)
          : await this.care.refuse(step.poisoned, block, step.from).then(
              () => ({ records: [], failed: undefined }),
              (error: unknown) => ({ records: [], failed: { index: 0, error: toError(error) } }),
            );
      this.#add(block, step, converted);
      if (converted.failed !== undefined) return;
    }
  }

  /** Adds the converted records of a block or of one step. If a record failed, they are the records before it. */
  #add(block: RecordBlock, step: Pick<Step, 'from' | 'to' | 'isCareful'>, { records, failed }: ConvertedRecords): void {
    const { topic, partition, offsets } = block;
    const count = failed?.index ?? step.to - step.from;
    const nextIndex = step.from + count;
    const offset = failed === undefined ? (offsets[nextIndex - 1] ?? -1) + 1 : (offsets[nextIndex] ?? 0);
    const end = { topic, partition, offset };
    this.#portions.push({ content: records, count, from: offsets[step.from] ?? 0, end, isCareful: step.isCareful });
    if (failed !== undefined) this.#failures.set(topicPartitionKey(topic, partition), failed.error);
  }

  /** Puts the waiting records, or a single step of them. `onPut` is called for each portion that the task has accepted. */
  async put(onPut: OnPut): Promise<void> {
    // `put` is also called without records, as in Java, because a task may do periodic work in it.
    if (this.#portions.length === 0) await this.#task.put([]);
    if (this.isCareful) {
      await this.#putRecords(this.#nextPortions(), onPut);
      return;
    }
    for (let [first] = this.#portions; first?.isCareful === false; [first] = this.#portions) {
      if ('messages' in first.content) await this.#putBlock(first, first.content, onPut);
      else await this.#putRecords(this.#recordPortions(), onPut);
    }
  }

  async #putRecords(ready: readonly Portion[], onPut: OnPut): Promise<void> {
    await this.#task.put(ready.flatMap(({ content }) => ('messages' in content ? [] : content)));
    this.#complete(ready, onPut);
  }

  /** Puts a block. If one of its records cannot be converted, the records that the task accepted before it count as put. */
  async #putBlock(portion: Portion, block: BlockConversion, onPut: OnPut): Promise<void> {
    try {
      await this.#task.putBlock?.(block);
      this.#complete([portion], onPut);
    } catch (error) {
      const { failed } = block;
      if (failed === undefined || failed.error !== error) throw error;
      const { topic, partition, offsets } = block.messages;
      const key = topicPartitionKey(topic, partition);
      this.#portions = this.#portions.filter(({ end }) => topicPartitionKey(end.topic, end.partition) !== key);
      this.#failures.set(key, toError(error));
      onPut({ topic, partition, offset: offsets[failed.index] ?? 0 }, failed.index, failed.index);
    }
  }

  #hasFailed(topic: string, partition: number): boolean {
    return this.#failures.size > 0 && this.#failures.has(topicPartitionKey(topic, partition));
  }

  /** Removes portions that were put. They do not count as put if the task has sought in their partition during `put`. */
  #complete(taken: readonly Portion[], onPut: OnPut): void {
    const counted = taken.filter((portion) => this.#portions.includes(portion));
    this.#portions = this.#portions.filter((portion) => !taken.includes(portion));
    for (const { content, end, count } of counted) onPut(end, count, 'messages' in content ? count : content.length);
  }

  /** Drops records of partitions that were revoked, or in which the task has sought. */
  keep(isOwned: (partitionKey: string) => boolean): void {
    this.#portions = this.#portions.filter(({ end }) => isOwned(topicPartitionKey(end.topic, end.partition)));
    for (const key of this.#failures.keys()) if (!isOwned(key)) this.#failures.delete(key);
  }

  #recordPortions(): readonly Portion[] {
    return until(this.#portions, ({ content, isCareful }) => isCareful || 'messages' in content);
  }

  #nextPortions(): readonly Portion[] {
    return this.isCareful ? this.#portions.slice(0, 1) : until(this.#portions, ({ isCareful }) => isCareful);
  }
}

/** Creates the PolledRecords of a sink task with the converters, transforms and error policy of its runtime. */
export function taskRecords(
  { converters, chain, errors, place, assignment, onDropped }: TaskRuntime,
  task: SinkTask,
): PolledRecords {
  const converter = new SinkRecordConverter(converters, chain, errors, place, onDropped);
  const surroundings = { errors, hasTransforms: !chain.empty, valueConverter: converters.valueClass };
  const care = new RecordCare(assignment.care, surroundings);
  return new PolledRecords(task, converter, { converters, chain, care });
}

function until(portions: readonly Portion[], isEnd: (portion: Portion) => boolean): readonly Portion[] {
  const end = portions.findIndex(isEnd);
  return end < 0 ? [...portions] : portions.slice(0, end);
}

function recordsOf(block: RecordBlock): ConsumedRecord[] {
  return Array.from({ length: block.count }, (_, index) => block.record(index));
}

/** Returns true if all keys and headers can be converted. A task that does not read them must still fail on invalid ones. */
function convertsAside(block: RecordBlock, { key, header }: Converters): boolean | Promise<boolean> {
  if (key.passesMessages === true && !block.hasHeaders) return true;
  return convertAside(block, { key, header });
}

async function convertAside(block: RecordBlock, { key, header }: Pick<Converters, 'key' | 'header'>): Promise<boolean> {
  const turn = new Turn();
  try {
    for (let index = 0; index < block.count; index++) {
      const bytes = block.key(index);
      let size = bytes?.length ?? 0;
      if (key.passesMessages !== true) {
        const wait = key.prepareToConnectData?.(block.topic, bytes);
        if (wait !== undefined) await wait;
        key.toConnectData(block.topic, bytes);
      }
      for (const each of block.headers(index)) {
        header.toConnectHeader(block.topic, each.key, each.value);
        size += each.value?.length ?? 0;
      }
      if (turn.isOver(size)) await turn.next();
    }
    return true;
  } catch {
    return false;
  }
}
