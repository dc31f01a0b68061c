import { javaTrace, SluiceError } from '../../errors.ts';
import type { SourceCoordinates, SourceRecord } from '../../data/record.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../../data/value.ts';
import type { ProducedRecord } from '../../kafka/api.ts';
import type { FailedRecord } from '../api.ts';
import type { FailureContext, FailureReporter } from './error-policy.ts';
import type { TaskId } from '../task-assignment.ts';

const PREFIX = '__connect.errors.';
const MAX_CONTENT_BYTES = 500_000;

/**
 * Creates dead-letter records for records that a source task could not create, or that cannot be converted or sent.
 * Used if `errors.deadletterqueue.topic.name` is set and `errors.tolerance` is `all`. The dead-letter record replaces
 * the failed record, so that it is delivered in the same transaction and before the offset is stored.
 */
export class SourceDeadLetters implements FailureReporter {
  readonly #id: TaskId;
  readonly #topic: string;
  readonly #hide: (text: string) => string;
  /** Failures by the record that failed, until `take`. Records are converted while earlier ones are being delivered. */
  readonly #failures = new WeakMap<SourceRecord | FailedRecord, FailureContext>();
  produceRequests = 0;
  readonly produceFailures = 0;

  /** @param hide removes secrets from the values of headers */
  constructor(id: TaskId, topic: string, hide: (text: string) => string) {
    this.#id = id;
    this.#topic = topic;
    this.#hide = hide;
  }

  report(failure: FailureContext): Promise<void> {
    if (failure.source !== undefined) this.#failures.set(failure.source, failure);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    // Dead-letter records are sent with the producer of the task, so there is nothing to close.
  }

  /** Returns the dead-letter record of a record whose failure was reported, or `null` if it did not fail. */
  take(source: SourceRecord | FailedRecord): ProducedRecord | null {
    const failure = this.#failures.get(source);
    if (failure === undefined) return null;
    this.#failures.delete(source);
    this.produceRequests += 1;
    const { stage, className, error } = failure;
    const headers = {
      [`${PREFIX}topic`]: source.topic,
      [`${PREFIX}connector.name`]: this.#id.connector,
      [`${PREFIX}task.id`]: String(this.#id.task),
      [`${PREFIX}stage`]: stage,
      [`${PREFIX}class.name`]: className,
      [`${PREFIX}exception.class.name`]: error instanceof SluiceError ? error.javaName : 'java.lang.RuntimeException',
      [`${PREFIX}exception.message`]: this.#hide(error.message),
      [`${PREFIX}exception.stacktrace`]: this.#hide(javaTrace(error)),
      'sluice.source.partition': coordinatesText(source.sourcePartition),
      'sluice.source.offset': coordinatesText(source.sourceOffset),
    };
    return {
      topic: this.#topic,
      partition: null,
      key: null,
      value: contentOf(source),
      timestamp: null,
      headers: Object.entries(headers).map(([key, value]) => ({ key, value: Buffer.from(value) })),
    };
  }
}

function coordinatesText(coordinates: SourceCoordinates): string {
  const cells = Object.entries(coordinates).map(([key, value]) => {
    return `${JSON.stringify(key)}:${typeof value === 'bigint' ? String(value) : JSON.stringify(value)}`;
  });
  return `{${cells.join(',')}}`;
}

/**
 * Returns the key and the value as JSON, or the content of a record that the source could not create. Returns `null` if
 * there is no content, or if it is too large for a message.
 */
function contentOf(source: SourceRecord | FailedRecord): Buffer | null {
  const content =
    'error' in source ? source.content : JSON.stringify({ key: plain(source.key), value: plain(source.value) });
  if (content === null) return null;
  const bytes = Buffer.from(content);
  return bytes.length > MAX_CONTENT_BYTES ? null : bytes;
}

function plain(value: ConnectValue): unknown {
  if (value instanceof Struct) {
    return Object.fromEntries(value.schema.fields.map(({ name }, index) => [name, plain(value.values[index] ?? null)]));
  }
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<ConnectValue, ConnectValue>)];
    return Object.fromEntries(
      entries.map(([key, each]) => [typeof key === 'string' ? key : JSON.stringify(plain(key)), plain(each)]),
    );
  }
  if (Array.isArray(value)) return (value as readonly ConnectValue[]).map((each) => plain(each));
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Decimal) return value.toPlainString();
  if (value instanceof TypedNumber) return value.value;
  return typeof value === 'bigint' ? String(value) : value;
}
