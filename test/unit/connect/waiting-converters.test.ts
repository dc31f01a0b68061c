import assert from 'node:assert/strict';
import type { Converter, HeaderConverter } from '../../../src/connect/api.ts';
import { ErrorPolicy, type FailureContext } from '../../../src/connect/pipeline/error-policy.ts';
import { SinkRecordConverter, SourceRecordConverter } from '../../../src/connect/pipeline/record-converter.ts';
import { TransformationChain } from '../../../src/connect/pipeline/transformation-chain.ts';
import type { SourceRecord } from '../../../src/data/record.ts';
import { DataError, UnavailableError } from '../../../src/errors.ts';
import type { ConsumedRecord } from '../../../src/kafka/api.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

const text: Converter = {
  toConnectData: (_topic, bytes) => ({ schema: null, value: bytes === null ? null : Buffer.from(bytes).toString() }),
  fromConnectData: (_topic, _schema, value) => (typeof value === 'string' ? Buffer.from(value) : null),
};

const header = {
  toConnectHeader: () => ({ schema: null, value: null }),
  fromConnectHeader: () => null,
} satisfies HeaderConverter;

/** A converter that asks for the first letter of a text once, as another asks for a schema. */
class FetchingConverter implements Converter {
  readonly asked: string[] = [];
  readonly #known = new Set<string>();
  readonly #answer: (letter: string) => Promise<void>;

  constructor(answer: (letter: string) => Promise<void>) {
    this.#answer = answer;
  }

  prepareToConnectData(_topic: string, bytes: Uint8Array | null): Promise<void> | undefined {
    return this.#prepare(String.fromCharCode(bytes?.[0] ?? 0));
  }

  prepareFromConnectData(_topic: string, _schema: null, value: unknown): Promise<void> | undefined {
    return this.#prepare(String(value).charAt(0));
  }

  toConnectData(topic: string, bytes: Uint8Array | null) {
    assert.ok(this.#known.has(String.fromCharCode(bytes?.[0] ?? 0)), 'converted before it was prepared');
    return text.toConnectData(topic, bytes);
  }

  fromConnectData(topic: string, _schema: null, value: string) {
    assert.ok(this.#known.has(value.charAt(0)), 'converted before it was prepared');
    return text.fromConnectData(topic, null, value);
  }

  #prepare(letter: string): Promise<void> | undefined {
    if (this.#known.has(letter)) return undefined;
    this.asked.push(letter);
    return this.#answer(letter).then(() => void this.#known.add(letter));
  }
}

function policy(tolerance: 'none' | 'all', retryTimeoutMs = 0) {
  const failures: FailureContext[] = [];
  const reporter = {
    report: async (failure: FailureContext) => void failures.push(failure),
    close: async () => undefined,
  };
  const options = { retryTimeoutMs, retryDelayMaxMs: 10, tolerance, logEnable: false, logIncludeMessages: false };
  const errors = new ErrorPolicy('c-0', options, [reporter], silentLogger, new AbortController().signal);
  return { errors, failures };
}

function sink(value: Converter, errors: ErrorPolicy): SinkRecordConverter {
  const converters = { key: text, keyClass: 'K', value, valueClass: 'V', header, headerClass: 'H' };
  return new SinkRecordConverter(converters, new TransformationChain([]), errors);
}

function consumed(value: string): ConsumedRecord {
  return {
    topic: 't',
    partition: 0,
    offset: 0,
    timestamp: 1,
    timestampType: 'CreateTime',
    key: null,
    value: Buffer.from(value),
    headers: [],
  };
}

describe('converters that must wait', () => {
  it('are waited for once; what they know is converted without a promise', async () => {
    const value = new FetchingConverter(() => Promise.resolve());
    const converter = sink(value, policy('none').errors);
    const { records } = await converter.convert(['a1', 'a2', 'b1'].map(consumed));
    assert.deepEqual(
      records.map((record) => record.value),
      ['a1', 'a2', 'b1'],
    );
    assert.deepEqual(value.asked, ['a', 'b']);
    const again = converter.convertOne(consumed('a3'));
    assert.ok(!(again instanceof Promise));
    assert.equal(again?.value, 'a3');
  });

  it('attribute failures of records to their own stage', async () => {
    const { errors, failures } = policy('all');
    const value = new FetchingConverter(() => Promise.reject(new DataError('no such schema')));
    assert.deepEqual((await sink(value, errors).convert([consumed('a')])).records, []);
    assert.deepEqual(
      failures.map(({ stage, className, error }) => [stage, className, error.message]),
      [['VALUE_CONVERTER', 'V', 'no such schema']],
    );
  });

  it('are tried again within errors.retry.timeout', async () => {
    let attempts = 0;
    const value = new FetchingConverter(() =>
      ++attempts < 4 ? Promise.reject(new UnavailableError('away')) : Promise.resolve(),
    );
    const { records } = await sink(value, policy('none', 10_000).errors).convert([consumed('a')]);
    assert.equal(records[0]?.value, 'a');
    assert.equal(attempts, 4);
  });

  it('fail the task when what they need stays away, tolerance or not, and make no dead letters of it', async () => {
    for (const tolerance of ['none', 'all'] as const) {
      const { errors, failures } = policy(tolerance);
      const value = new FetchingConverter(() => Promise.reject(new UnavailableError('the registry is unreachable')));
      const { records, failed } = await sink(value, errors).convert([consumed('a')]);
      assert.deepEqual(records, []);
      assert.match((failed?.error.cause as Error).message, /the registry is unreachable/);
      assert.deepEqual(failures, []);
    }
  });

  it('are waited for by source records too, key and value', async () => {
    const key = new FetchingConverter(() => Promise.resolve());
    const value = new FetchingConverter(() => Promise.resolve());
    const converters = { key, keyClass: 'K', value, valueClass: 'V', header, headerClass: 'H' };
    const converter = new SourceRecordConverter(converters, new TransformationChain([]), policy('none').errors);
    const record: SourceRecord = {
      topic: 't',
      partition: null,
      keySchema: null,
      key: 'k',
      valueSchema: null,
      value: 'v',
      timestamp: null,
      headers: [],
      sourcePartition: {},
      sourceOffset: {},
    };
    const first = converter.convert(record);
    assert.ok(first instanceof Promise);
    assert.equal(Buffer.from((await first)?.value ?? '').toString(), 'v');
    const second = converter.convert(record);
    assert.ok(!(second instanceof Promise));
    assert.deepEqual([key.asked, value.asked], [['k'], ['v']]);
  });
});
