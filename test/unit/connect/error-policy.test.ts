import assert from 'node:assert/strict';
import { pino } from 'pino';
import type { Converter, HeaderConverter, Transformation } from '../../../src/connect/api.ts';
import {
  ErrorPolicy,
  type ErrorPolicyOptions,
  type FailureContext,
} from '../../../src/connect/pipeline/error-policy.ts';
import { SinkRecordConverter, SourceRecordConverter } from '../../../src/connect/pipeline/record-converter.ts';
import { TransformationChain } from '../../../src/connect/pipeline/transformation-chain.ts';
import type { SourceRecord } from '../../../src/data/record.ts';
import { DataError, RetriableError } from '../../../src/errors.ts';
import type { ConsumedRecord } from '../../../src/kafka/api.ts';

const text: Converter = {
  toConnectData: (_topic, bytes) => ({ schema: null, value: bytes === null ? null : Buffer.from(bytes).toString() }),
  fromConnectData: (_topic, _schema, value) => (typeof value === 'string' ? Buffer.from(value) : null),
};
const header: HeaderConverter = {
  toConnectHeader: () => ({ schema: null, value: null }),
  fromConnectHeader: () => null,
};
const refusing = (error: Error) => (): never => {
  throw error;
};
const refused = new DataError('refused');

/** Plugins that fail at one stage each and do nothing at the others. */
const STAGES = {
  TRANSFORMATION: { transformation: { apply: refusing(refused) } },
  HEADER_CONVERTER: { header: { toConnectHeader: refusing(refused), fromConnectHeader: refusing(refused) } },
  KEY_CONVERTER: { key: { toConnectData: refusing(refused), fromConnectData: refusing(refused) } },
  VALUE_CONVERTER: { value: { toConnectData: refusing(refused), fromConnectData: refusing(refused) } },
} as const;
const CLASSES = { TRANSFORMATION: 'T', HEADER_CONVERTER: 'H', KEY_CONVERTER: 'K', VALUE_CONVERTER: 'V' } as const;

interface Parts {
  readonly key?: Converter;
  readonly value?: Converter;
  readonly header?: HeaderConverter;
  readonly transformation?: Transformation;
}

const consumed: ConsumedRecord = {
  topic: 't',
  partition: 3,
  offset: 7,
  timestamp: 1712,
  timestampType: 'CreateTime',
  key: Buffer.from('k'),
  value: Buffer.from('v'),
  headers: [{ key: 'h', value: null }],
};
const produced: SourceRecord = {
  topic: 't',
  partition: null,
  keySchema: null,
  key: 'k',
  valueSchema: null,
  value: 'v',
  timestamp: null,
  headers: [{ key: 'h', schema: null, value: null }],
  sourcePartition: {},
  sourceOffset: {},
};

function policyOf(options: Partial<ErrorPolicyOptions>) {
  const failures: FailureContext[] = [];
  const lines: string[] = [];
  const reporter = {
    report: async (failure: FailureContext) => Promise.resolve(void failures.push(failure)),
    close: async () => Promise.resolve(),
  };
  const write = (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg);
  const all = { retryTimeoutMs: 0, retryDelayMaxMs: 10, tolerance: 'all', logEnable: true, logIncludeMessages: true };
  const policy = new ErrorPolicy(
    'c-0',
    { ...all, ...options } as ErrorPolicyOptions,
    [reporter],
    pino({}, { write }),
    new AbortController().signal,
  );
  return { policy, failures, lines };
}

function converters(parts: Parts) {
  const { key = text, value = text } = parts;
  return { key, keyClass: 'K', value, valueClass: 'V', header: parts.header ?? header, headerClass: 'H' };
}

function chain({ transformation }: Parts): TransformationChain {
  return new TransformationChain(transformation === undefined ? [] : [{ className: 'T', transformation }]);
}

describe('the error policy', () => {
  for (const [stage, parts] of Object.entries(STAGES) as [keyof typeof CLASSES, Parts][]) {
    it(`attributes a failure of ${stage} to it, in sinks and sources, and logs it in Connect's words`, async () => {
      const sink = policyOf({});
      const sinkRecords = new SinkRecordConverter(converters(parts), chain(parts), sink.policy);
      assert.equal(await sinkRecords.convertOne(consumed), undefined);
      const source = policyOf({});
      const sourceRecords = new SourceRecordConverter(converters(parts), chain(parts), source.policy);
      assert.equal(await sourceRecords.convert(produced), null);
      for (const { failures, policy } of [sink, source]) {
        assert.deepEqual(
          failures.map((failure) => [failure.stage, failure.className, failure.error]),
          [[stage, CLASSES[stage], refused]],
        );
        assert.equal(policy.counts.skipped, 1);
      }
      const line = `Error encountered in task c-0. Executing stage '${stage}' with class '${CLASSES[stage]}'`;
      assert.deepEqual(source.lines, [`${line}.`]);
      assert.deepEqual(sink.lines, [
        `${line}, where consumed record is {topic='t', partition=3, offset=7, timestamp=1712, timestampType=CreateTime}.`,
      ]);
    });
  }

  it('with errors.tolerance=none fails the task, after the failure was reported', async () => {
    const { policy, failures, lines } = policyOf({ tolerance: 'none', logEnable: false });
    const sink = new SinkRecordConverter(converters(STAGES.VALUE_CONVERTER), chain({}), policy);
    await assert.rejects(async () => sink.convertOne(consumed), /^ConnectError: Tolerance exceeded in error handler$/);
    assert.equal(failures.length, 1);
    assert.deepEqual(lines, []);
    const source = new SourceRecordConverter(converters(STAGES.KEY_CONVERTER), chain({}), policy);
    await assert.rejects(async () => source.convert(produced), { message: 'Tolerance exceeded in error handler' });
  });

  it('retries retriable errors within errors.retry.timeout, and no others', async () => {
    let attempts = 0;
    const passing = (failures: number, error: Error): Converter => ({
      ...text,
      toConnectData: (topic, bytes) => {
        if (++attempts <= failures) throw error;
        return text.toConnectData(topic, bytes);
      },
    });
    const later = new RetriableError('later');
    const { policy, failures } = policyOf({ retryTimeoutMs: 10_000 });
    const patient = new SinkRecordConverter(converters({ value: passing(4, later) }), chain({}), policy);
    assert.equal((await patient.convertOne(consumed))?.value, 'v');
    assert.deepEqual([policy.counts.retries, failures.length], [3, 0]);
    assert.deepEqual([policy.counts.failures, policy.counts.errors], [3, 0], 'failures that were retried count');
    attempts = 0;
    const once = policyOf({ retryTimeoutMs: 0 });
    const hasty = new SinkRecordConverter(converters({ value: passing(4, later) }), chain({}), once.policy);
    assert.equal(await hasty.convertOne(consumed), undefined);
    assert.deepEqual([once.policy.counts.retries, once.failures.length], [0, 1]);
    assert.deepEqual([once.policy.counts.failures, once.policy.counts.errors], [1, 1]);
    attempts = 0;
    const other = policyOf({ retryTimeoutMs: 10_000 });
    const wrong = new SinkRecordConverter(converters({ value: passing(4, refused) }), chain({}), other.policy);
    assert.equal(await wrong.convertOne(consumed), undefined);
    assert.equal(other.policy.counts.retries, 0);
  });
});
