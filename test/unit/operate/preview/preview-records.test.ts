import assert from 'node:assert/strict';
import type { Converter, HeaderConverter } from '../../../../src/connect/api.ts';
import { convertSamples, sampleText } from '../../../../src/operate/preview/preview-records.ts';
import { sampleRecord } from '../../../../src/operate/preview/sample-messages.ts';
import { TransformationChain } from '../../../../src/connect/pipeline/transformation-chain.ts';
import { Schema } from '../../../../src/data/schema.ts';
import { DataError, UnavailableError } from '../../../../src/errors.ts';

const INT64 = new Schema('int64', { optional: true });
const numbers: Converter = {
  toConnectData: (_topic, bytes) => {
    const text = bytes === null ? null : Buffer.from(bytes).toString();
    if (text !== null && !/^\d+$/.test(text)) throw new DataError(`${text} is no number`);
    return { schema: INT64, value: text === null ? null : BigInt(text) };
  },
  fromConnectData: () => null,
};
const header: HeaderConverter = {
  toConnectHeader: () => ({ schema: null, value: null }),
  fromConnectHeader: () => null,
};

const convert = (value: Converter, texts: readonly string[]) =>
  convertSamples(
    texts.map((text, index) => sampleRecord({ value: text, timestamp: 5 }, 't', index)),
    { key: numbers, keyClass: 'K', value, valueClass: 'V', header, headerClass: 'H' },
    new TransformationChain([]),
    new AbortController().signal,
  );

describe('records of a preview', () => {
  it('are shown to the last digit, and those that fail with their stage, class and reason', async () => {
    const [good, bad] = (await convert(numbers, ['9007199254740993', 'x'])).map((each) => sampleText(each, undefined));
    assert.match(good ?? '', /"value":\{"schema":\{"type":"int64","optional":true\},"payload":9007199254740993\}/);
    assert.deepEqual(JSON.parse(bad ?? ''), {
      message: { topic: 't', partition: 0, offset: 1, timestamp: 5 },
      record: null,
      dropped: false,
      faults: [{ stage: 'VALUE_CONVERTER', class: 'V', message: 'x is no number' }],
    });
  });

  it('are not to blame for an unreachable service: the whole preview fails with the reason', async () => {
    const waiting: Converter = {
      ...numbers,
      prepareToConnectData: () => Promise.reject(new UnavailableError('the registry is unreachable')),
    };
    await assert.rejects(convert(waiting, ['1']), {
      message: 'VALUE_CONVERTER failed for the record at topic t, partition 0, offset 0: the registry is unreachable',
    });
  });
});
