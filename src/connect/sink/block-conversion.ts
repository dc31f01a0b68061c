import type { SinkRecordBlock, StructRecord, TakeRecord } from '../../data/message-block.ts';
import type { SinkRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import { toError } from '../../errors.ts';
import type { RecordBlock } from '../../kafka/api.ts';
import type { SchemaAndValue } from '../api.ts';
import type { ChainPlans } from '../pipeline/chain-plans.ts';
import type { ConvertedRecords, Converters, RecordConversion } from '../pipeline/record-converter.ts';
import type { StructProgram } from '../pipeline/struct-plan.ts';
import { Turn } from '../pipeline/turn.ts';

/** Maximum number of records that `records()` reads with one call of `readStructs`. */
const SLICE_RECORDS = 128;
/**
 * If the plans of the transforms fail for more structs of a block than this, the rest of the block is transformed
 * record by record, so that its values are not read twice.
 */
const MAX_UNPLANNED_STRUCTS = 16;

/**
 * Converts and transforms a record block for a sink task, by means of the transforms' plans (see StructPlan in
 * src/connect/pipeline/struct-plan.ts) if possible.
 */
export class BlockConversion implements SinkRecordBlock {
  readonly messages: RecordBlock;
  readonly passesMessages: boolean;
  readonly #converter: RecordConversion;
  readonly #converters: Pick<Converters, 'key' | 'value'>;
  readonly #plans: ChainPlans | undefined;
  readonly #record: PlannedRecord;
  #schema: Schema | undefined;
  #program: StructProgram | undefined;
  #unplanned = 0;
  /** Milliseconds that the structs of one measured call of `readStructs` have spent in transforms and in the callback `take`. */
  #afterConverterMs = 0;
  /** The record that fails the task, and its error; `undefined` if there is none. */
  failed: { readonly index: number; readonly error: unknown } | undefined;

  /** `plans` is absent if there are no transforms. */
  constructor(
    messages: RecordBlock,
    converter: RecordConversion,
    converters: Pick<Converters, 'key' | 'value'>,
    plans: ChainPlans | undefined,
  ) {
    this.messages = messages;
    this.passesMessages = plans === undefined && converters.value.passesMessages === true;
    this.#converter = converter;
    this.#converters = converters;
    this.#plans = plans;
    this.#record = new PlannedRecord(messages, converters);
  }

  readStructs(from: number, to: number, take: TakeRecord): number {
    if (this.#converters.value.readStructs === undefined || this.#unplanned > MAX_UNPLANNED_STRUCTS) return from;
    const { times } = this.#converter;
    const isMeasured = times.isSliceDue();
    const beganAt = isMeasured ? performance.now() : 0;
    this.#afterConverterMs = 0;
    const end =
      this.#plans === undefined
        ? this.#read(from, to, take, isMeasured)
        : this.#readPlanned(from, to, take, isMeasured);
    if (isMeasured) times.converted(performance.now() - beganAt - this.#afterConverterMs, end - from);
    return end;
  }

  #read(from: number, to: number, take: TakeRecord, isMeasured: boolean): number {
    const { messages } = this;
    const record = this.#record;
    const takeOne = (schema: Schema, values: readonly ConnectValue[], index: number): boolean => {
      record.index = index;
      if (!isMeasured) return take(schema, values, index, record);
      const readAt = performance.now();
      const isTaken = take(schema, values, index, record);
      this.#afterConverterMs += performance.now() - readAt;
      return isTaken;
    };
    return this.#converters.value.readStructs?.(messages, from, to, takeOne) ?? from;
  }

  #readPlanned(from: number, to: number, take: TakeRecord, isMeasured: boolean): number {
    const { messages } = this;
    const { times } = this.#converter;
    const record = this.#record;
    const transform = (schema: Schema, values: readonly ConnectValue[], index: number): boolean => {
      const readAt = isMeasured ? performance.now() : 0;
      const program = schema === this.#schema ? this.#program : this.#planned(schema);
      if (program?.run(values, messages, index, isMeasured ? times : undefined) !== true) {
        this.#unplanned++;
        return false;
      }
      record.index = index;
      record.program = program;
      const isTaken = take(program.schema, program.values, index, record);
      if (isMeasured) this.#afterConverterMs += performance.now() - readAt;
      return isTaken;
    };
    return this.#converters.value.readStructs?.(messages, from, to, transform) ?? from;
  }

  #planned(schema: Schema): StructProgram | undefined {
    const { topic, hasHeaders } = this.messages;
    this.#schema = schema;
    this.#program = this.#plans?.of(schema, topic, hasHeaders);
    return this.#program;
  }

  sinkRecord(index: number): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    const made = this.#converter.convertOne(this.messages.record(index));
    if (!(made instanceof Promise)) return made;
    return made.catch((error: unknown) => {
      this.failed = { index, error };
      throw error;
    });
  }

  /** Converts all records, if the block cannot be passed to the task as a block; see `RecordConversion.convert`. */
  async records(): Promise<ConvertedRecords> {
    const { messages } = this;
    const { count } = messages;
    const records: SinkRecord[] = [];
    const take = (_schema: Schema, _values: unknown, index: number): boolean => {
      const record = this.#program && this.#converter.planned(messages.record(index), this.#program);
      if (record === undefined) this.#unplanned++;
      else records.push(record);
      return record !== undefined;
    };
    const turn = new Turn();
    for (let index = 0; index < count;) {
      const begin = index;
      const end = Math.min(count, begin + SLICE_RECORDS);
      index = this.readStructs(begin, end, take);
      if (index < end) {
        try {
          const made = this.sinkRecord(index);
          const record = made instanceof Promise ? await made : made;
          if (record !== undefined) records.push(record);
        } catch (error) {
          return { records, failed: { index, error: toError(error) } };
        }
        index++;
      }
      const bytes = (messages.valueEnds[index - 1] ?? 0) - (messages.valueStarts[begin] ?? 0);
      if (turn.isOver(Math.max(0, bytes), index - begin) && index < count) await turn.next();
    }
    return { records, failed: undefined };
  }
}

class PlannedRecord implements StructRecord {
  index = 0;
  program: StructProgram | undefined;
  readonly #messages: RecordBlock;
  readonly #converters: Pick<Converters, 'key'>;

  constructor(messages: RecordBlock, converters: Pick<Converters, 'key'>) {
    this.#messages = messages;
    this.#converters = converters;
  }

  get topic(): string {
    return this.program === undefined ? this.#messages.topic : this.program.topic;
  }

  key(): SchemaAndValue | undefined {
    const planned = this.program?.key;
    if (planned !== undefined) return planned;
    const { topic } = this.#messages;
    try {
      return this.#converters.key.toConnectData(topic, this.#messages.key(this.index));
    } catch {
      return undefined;
    }
  }
}
