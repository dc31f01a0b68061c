import {
  parseOptions,
  type PartitionOffset,
  type SinkRecord,
  type SinkTask,
  type SinkTaskContext,
} from '../../src/index.ts';
import { verifiableSinkOptions } from './options.ts';
import { jsonOf, printLine } from './printed-line.ts';

/** The parts of a line before and after its time. */
type Line = readonly [string, string];

/**
 * Prints a line of JSON for each record that it receives, and another line before the offset of the record is committed
 * (org.apache.kafka.connect.tools.VerifiableSinkTask).
 */
export class VerifiableSinkTask implements SinkTask {
  #name = '';
  #id = 0;
  #unflushed: Line[] = [];

  async start(context: SinkTaskContext): Promise<void> {
    this.#name = context.connectorName;
    this.#id = parseOptions(verifiableSinkOptions, context.config).id;
    await Promise.resolve();
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    const time = String(Date.now());
    for (const record of records) {
      const [before, after] = this.#line(record);
      await printLine(`${before}${time}${after}}`);
      this.#unflushed.push([before, after]);
    }
  }

  async preCommit(delivered: ReadonlyMap<string, PartitionOffset>): Promise<readonly PartitionOffset[]> {
    const time = String(Date.now());
    const lines = this.#unflushed;
    this.#unflushed = [];
    for (const [before, after] of lines) await printLine(`${before}${time}${after},"flushed":true}`);
    return [...delivered.values()];
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }

  /** Members are in the order in which the Java task prints them. */
  #line({ keySchema, key, valueSchema, value, topic, offset }: SinkRecord): Line {
    const seqno = jsonOf(valueSchema, value);
    const [name, topicName] = [JSON.stringify(this.#name), JSON.stringify(topic)];
    return [
      `{"task":${jsonOf(keySchema, key)},"seqno":${seqno},"offset":${String(offset)},"time_ms":`,
      `,"name":${name},"topic":${topicName},"sinkTask":${String(this.#id)}`,
    ];
  }
}
