import type { SourceRecord } from '../../data/record.ts';
import type { ProducedRecord } from '../../kafka/api.ts';
import type { JsonEncoding, SourceBlock } from '../api.ts';
import type { Stage } from '../pipeline/error-policy.ts';
import { SourceRecordConverter } from '../pipeline/record-converter.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';
import { isFailed, jsonEncoding, passesBlock, type SinglePart } from './source-block.ts';
import type { SourceDelivery } from './source-delivery.ts';

const WORKER_SOURCE_TASK = 'org.apache.kafka.connect.runtime.WorkerSourceTask';

/** Transforms and converts the records that a task polls, and creates dead-letter records for those that fail. */
export class SourceConversion {
  readonly #runtime: TaskRuntime;
  readonly #delivery: SourceDelivery;
  readonly #converter: SourceRecordConverter;

  constructor(runtime: TaskRuntime, delivery: SourceDelivery) {
    this.#runtime = runtime;
    this.#delivery = delivery;
    this.#converter = new SourceRecordConverter(runtime.converters, runtime.chain, runtime.errors);
  }

  /** How the task may write the JSON of its records as blocks; `undefined` if blocks do not pass or are not JSON. */
  get json(): JsonEncoding | undefined {
    return this.#passesBlocks ? jsonEncoding(this.#runtime.converters) : undefined;
  }

  /** Returns true if the bytes of a block can be sent unchanged. */
  passes(block: SourceBlock): boolean {
    return this.#passesBlocks && passesBlock(block, this.#runtime.converters);
  }

  /**
   * Transforms need records instead of blocks, as do tasks that define transaction boundaries. With a dead-letter topic,
   * each record that cannot be sent needs a dead-letter record of its own.
   */
  get #passesBlocks(): boolean {
    const { chain, deadLetters } = this.#runtime;
    return chain.empty && deadLetters === undefined && this.#delivery.transactions === undefined;
  }

  /**
   * Returns the record to send: the converted record, its dead-letter record, or `null`. Returns a promise only after a
   * failure, or if a converter must wait.
   */
  produced(source: SinglePart): ProducedRecord | null | Promise<ProducedRecord | null> {
    if (isFailed(source)) return this.#refuse(source, source.error, 'TASK_POLL');
    const { deadLetters } = this.#runtime;
    const converting = this.#converter.convert(source);
    if (deadLetters === undefined) return converting;
    return converting instanceof Promise
      ? converting.then((record) => this.#fitting(source, record))
      : this.#fitting(source, converting);
  }

  /** Returns the record, or its dead-letter record if it cannot be converted or is too large. */
  #fitting(
    source: SourceRecord,
    record: ProducedRecord | null,
  ): ProducedRecord | null | Promise<ProducedRecord | null> {
    if (record === null) return this.#runtime.deadLetters?.take(source) ?? null;
    const error = this.#delivery.refusal(record);
    return error === undefined ? record : this.#refuse(source, error, 'KAFKA_PRODUCE');
  }

  /**
   * Returns the dead-letter record, or `null` if there is none.
   * @throws ConnectError with `errors.tolerance=none`
   */
  async #refuse(source: SinglePart, error: Error, stage: Stage): Promise<ProducedRecord | null> {
    const { errors, deadLetters, assignment } = this.#runtime;
    const className = assignment.taskConfig['task.class'] ?? WORKER_SOURCE_TASK;
    await errors.failed({ stage, className, error, consumed: undefined, source });
    return deadLetters?.take(source) ?? null;
  }
}
