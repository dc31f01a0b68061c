import {
  parseOptions,
  Schema,
  Struct,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
} from '../../src/index.ts';
import { INT32, INT64, NumberedSource, STRING } from './numbered-source.ts';
import { isTrue, schemaSourceOptions } from './options.ts';
import { Pace, pause } from './pace.ts';
import { printLine } from './printed-line.ts';

const IDLE_MS = 250;

const FIELDS = [
  { name: 'boolean', schema: new Schema('boolean') },
  { name: 'int', schema: INT32 },
  { name: 'long', schema: INT64 },
  { name: 'float', schema: new Schema('float32') },
  { name: 'double', schema: new Schema('float64') },
  { name: 'partitioning', schema: INT32 },
];
const COUNTERS = [
  { name: 'id', schema: INT32 },
  { name: 'seqno', schema: INT64 },
];
const FIRST = Schema.struct([...FIELDS, ...COUNTERS], { name: 'record', version: 1 });
const SECOND = Schema.struct(
  [...FIELDS, { name: 'string', schema: new Schema('string', { defaultValue: 'abc' }) }, ...COUNTERS],
  { name: 'record', version: 2 },
);

/**
 * Produces a limited number of structs with one or two versions of a schema
 * (org.apache.kafka.connect.tools.SchemaSourceTask).
 */
export class SchemaSourceTask implements SourceTask {
  #source!: NumberedSource;
  #pace!: Pace;
  #signal!: AbortSignal;
  #id = 0;
  #left = 0;
  #hasTwoSchemas = false;
  #partitionCount = 1n;
  #isSecond = false;

  async start(context: SourceTaskContext): Promise<void> {
    const options = parseOptions(schemaSourceOptions, context.config);
    this.#signal = context.signal;
    this.#id = options.id;
    this.#left = Number(options['num.messages']);
    this.#hasTwoSchemas = isTrue(options['multiple.schema']);
    this.#partitionCount = BigInt(options['partition.count']);
    this.#source = await NumberedSource.open(context, options.id, options.topic);
    this.#pace = new Pace(Number(options.throughput), context.signal);
  }

  async poll(): Promise<readonly SourceRecord[]> {
    if (this.#left <= 0) {
      await pause(IDLE_MS, this.#signal);
      return [];
    }
    if (!(await this.#pace.isDue())) return [];
    const { seqno } = this.#source;
    const value = this.#value(seqno);
    await printLine(`{"task": ${String(this.#id)}, "seqno": ${String(seqno)}}`);
    this.#left -= 1;
    this.#isSecond = this.#hasTwoSchemas && !this.#isSecond;
    return [
      this.#source.record({ partition: this.#id, keySchema: STRING, key: 'key', valueSchema: value.schema, value }),
    ];
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }

  #value(seqno: bigint): Struct {
    const value = new Struct(this.#isSecond ? SECOND : FIRST)
      .put('boolean', true)
      .put('int', 12)
      .put('long', 12n)
      .put('float', Math.fround(12.2))
      .put('double', 12.2)
      .put('partitioning', Number(seqno % this.#partitionCount))
      .put('id', this.#id)
      .put('seqno', seqno);
    return this.#isSecond ? value.put('string', 'def') : value;
  }
}
