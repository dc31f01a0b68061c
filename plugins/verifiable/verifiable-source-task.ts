import {
  parseOptions,
  Schema,
  Struct,
  type ConnectValue,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
} from '../../src/index.ts';
import { INT32, INT64, NumberedSource, STRING } from './numbered-source.ts';
import { isTrue, verifiableSourceOptions } from './options.ts';
import { Pace } from './pace.ts';
import { jsonOf, printLine } from './printed-line.ts';

const COMPLETE = Schema.struct([
  { name: 'name', schema: STRING },
  { name: 'task', schema: INT32 },
  { name: 'topic', schema: STRING },
  { name: 'time_ms', schema: INT64 },
  { name: 'seqno', schema: INT64 },
]);

/**
 * Produces numbered records. Prints a line of JSON for each record when it is created, and another line when it has been
 * delivered or dropped (org.apache.kafka.connect.tools.VerifiableSourceTask).
 */
export class VerifiableSourceTask implements SourceTask {
  #source!: NumberedSource;
  #pace!: Pace;
  #name = '';
  #id = 0;
  #topic = '';
  #isComplete = false;

  async start(context: SourceTaskContext): Promise<void> {
    const options = parseOptions(verifiableSourceOptions, context.config);
    this.#name = context.connectorName;
    this.#id = options.id;
    this.#topic = options.topic;
    this.#isComplete = isTrue(options['complete.record.data']);
    this.#source = await NumberedSource.open(context, options.id, options.topic);
    this.#pace = new Pace(Number(options.throughput), context.signal);
  }

  async poll(): Promise<readonly SourceRecord[]> {
    if (!(await this.#pace.isDue())) return [];
    const { seqno } = this.#source;
    const timeMs = Date.now();
    await printLine(this.#line(String(seqno), timeMs));
    const [valueSchema, value] = this.#isComplete ? [COMPLETE, this.#complete(seqno, timeMs)] : [INT64, seqno];
    return [this.#source.record({ partition: null, keySchema: INT32, key: this.#id, valueSchema, value })];
  }

  commitRecord({ valueSchema, value }: SourceRecord): void {
    const line = this.#line(jsonOf(valueSchema, value), Date.now());
    void printLine(`{"committed":true,${line.slice(1)}`);
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }

  /** Members are in the order in which the Java task prints them. */
  #line(seqno: string, timeMs: number): string {
    const [name, topic] = [JSON.stringify(this.#name), JSON.stringify(this.#topic)];
    return `{"task":${String(this.#id)},"seqno":${seqno},"time_ms":${String(timeMs)},"name":${name},"topic":${topic}}`;
  }

  #complete(seqno: bigint, timeMs: number): ConnectValue {
    return new Struct(COMPLETE)
      .put('name', this.#name)
      .put('task', this.#id)
      .put('topic', this.#topic)
      .put('time_ms', BigInt(timeMs))
      .put('seqno', seqno);
  }
}
