import { parseOptions } from '../../config/parse.ts';
import type { SinkRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import { messageWithCause, toError } from '../../errors.ts';
import type { ConsumedRecord } from '../../kafka/api.ts';
import { silentLogger } from '../../observe/logger.ts';
import type { PreviewFault, RecordPreview } from '../../connect/api.ts';
import { JsonConverter, jsonConverterOptions } from '../../converters/json-converter.ts';
import { ErrorPolicy, type FailureContext, type Stage } from '../../connect/pipeline/error-policy.ts';
import { SinkRecordConverter, type Converters } from '../../connect/pipeline/record-converter.ts';
import type { TransformationChain } from '../../connect/pipeline/transformation-chain.ts';

/** A message, and the record that the connector would get. */
export interface ConvertedSample {
  readonly consumed: ConsumedRecord;
  /** `undefined`: it was dropped by a transform, or because of `fault`. */
  readonly record: SinkRecord | undefined;
  readonly fault: (PreviewFault & { readonly stage: Stage; readonly class: string }) | undefined;
}

const TOLERANT = {
  retryTimeoutMs: 0,
  retryDelayMaxMs: 0,
  tolerance: 'all',
  logEnable: false,
  logIncludeMessages: false,
} as const;

/**
 * Applies converters and transforms to each message. A message that fails has a fault and does not affect the others.
 * Rejects if a service that they need is unreachable.
 */
export async function convertSamples(
  samples: readonly ConsumedRecord[],
  converters: Converters,
  chain: TransformationChain,
  signal: AbortSignal,
): Promise<ConvertedSample[]> {
  const failures: FailureContext[] = [];
  const reporter = {
    report: async (failure: FailureContext) => {
      failures.push(failure);
      return Promise.resolve();
    },
    close: async () => Promise.resolve(),
  };
  const policy = new ErrorPolicy('preview', TOLERANT, [reporter], silentLogger, signal);
  const converter = new SinkRecordConverter(converters, chain, policy);
  const converted: ConvertedSample[] = [];
  for (const consumed of samples) {
    failures.length = 0;
    const record = await withReason(() => converter.convertOne(consumed));
    const [failure] = failures;
    const fault = failure && {
      stage: failure.stage,
      class: failure.className,
      message: messageWithCause(failure.error),
    };
    converted.push({ consumed, record, fault });
  }
  return converted;
}

/**
 * Throws the cause of an error instead of the error, so that the message of a preview begins with the reason. Only
 * errors that no record causes are thrown, such as that the schema registry is unreachable. They end a preview as they
 * would end a task.
 */
async function withReason<T>(convert: () => T | Promise<T>): Promise<T> {
  try {
    return await convert();
  } catch (error) {
    throw toError(toError(error).cause ?? error);
  }
}

const shownAsJson = new JsonConverter(
  parseOptions(jsonConverterOptions, {
    'converter.type': 'value',
    'schemas.enable': 'true',
    'decimal.format': 'NUMERIC',
  }),
  false,
);

/**
 * A sample in the answer, as JSON text. Values are written as by a JSON converter with schemas, and numbers keep every
 * digit.
 */
export function sampleText({ consumed, record, fault }: ConvertedSample, preview: RecordPreview | undefined): string {
  const { topic, partition, offset, timestamp } = consumed;
  const faults = [
    ...(fault === undefined ? [] : [fault]),
    ...(preview?.faults ?? []).map((each) => ({ stage: 'TASK_PUT', ...each })),
  ];
  const parts = [
    `"message":${JSON.stringify({ topic, partition, offset, timestamp })}`,
    `"record":${record === undefined ? 'null' : recordText(record)}`,
    `"dropped":${String(record === undefined && fault === undefined)}`,
  ];
  const { rows, lines, statements } = preview ?? {};
  for (const [name, value] of Object.entries({ rows, lines, statements })) {
    if (value !== undefined) parts.push(`"${name}":${JSON.stringify(value)}`);
  }
  return `{${parts.join(',')},"faults":${JSON.stringify(faults)}}`;
}

function recordText({ topic, partition, timestamp, keySchema, key, valueSchema, value, headers }: SinkRecord): string {
  const shownHeaders = headers.map(
    (header) => `{"key":${JSON.stringify(header.key)},"value":${jsonText(header.schema, header.value)}}`,
  );
  const place = JSON.stringify({ topic, partition, timestamp }).slice(1, -1);
  return `{${place},"key":${jsonText(keySchema, key)},"value":${jsonText(valueSchema, value)},"headers":[${shownHeaders.join(',')}]}`;
}

function jsonText(schema: Schema | null, value: ConnectValue): string {
  if (schema === null && value === null) return 'null';
  try {
    const bytes = shownAsJson.fromConnectData('', schema, value);
    return bytes === null ? 'null' : Buffer.from(bytes).toString();
  } catch (error) {
    return JSON.stringify({ unreadable: toError(error).message });
  }
}
