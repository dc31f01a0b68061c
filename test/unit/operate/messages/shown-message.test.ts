import assert from 'node:assert/strict';
import { parseOptions } from '../../../../src/config/parse.ts';
import { byteArrayConverterPlugins } from '../../../../src/converters/byte-array-converter.ts';
import { JsonConverter, jsonConverterOptions } from '../../../../src/converters/json-converter.ts';
import type { Converters } from '../../../../src/connect/pipeline/record-converter.ts';
import { MessageDecoder } from '../../../../src/operate/messages/shown-message.ts';
import type { ConsumedRecord } from '../../../../src/kafka/api.ts';

const json = new JsonConverter(
  parseOptions(jsonConverterOptions, { 'converter.type': 'value', 'schemas.enable': 'false' }),
  false,
);

function decoder(key: Converters['key']): MessageDecoder {
  const header = {
    fromConnectHeader: () => null,
    toConnectHeader: (_topic: string, _key: string, bytes: Uint8Array | null) => ({
      schema: null,
      value: bytes === null ? null : Buffer.from(bytes).toString(),
    }),
  };
  return new MessageDecoder({ key, value: json, header, keyClass: 'k', valueClass: 'v', headerClass: 'h' });
}

function message(key: Buffer | null, value: Buffer | null): ConsumedRecord {
  const headers = [{ key: 'trace', value: Buffer.from('abc') }];
  const place = { topic: 't', partition: 1, offset: 7, timestamp: 1000, timestampType: 'CreateTime' } as const;
  return { ...place, key, value, headers };
}

describe('a message that is shown', () => {
  it('has texts as they are, structures as JSON with every digit, and headers', async () => {
    const value = Buffer.from('{"id":9007199254740993,"ok":true}');
    const shown = await decoder(json).shown(message(Buffer.from('"a key"'), value));
    assert.deepEqual(shown.key, { kind: 'text', text: 'a key' });
    assert.deepEqual(shown.value, { kind: 'json', text: '{"id":9007199254740993,"ok":true}' });
    assert.deepEqual(shown.headers, [{ key: 'trace', value: { kind: 'text', text: 'abc' } }]);
    assert.deepEqual([shown.partition, shown.offset, shown.timestamp], [1, 7, 1000]);
  });

  it('has the bytes and the fault of what cannot be decoded, and the rest all the same', async () => {
    const shown = await decoder(json).shown(message(Buffer.from('"k"'), Buffer.from('{oops')));
    assert.deepEqual(shown.key, { kind: 'text', text: 'k' });
    assert.ok(shown.value.kind === 'hex' && shown.value.text === '7b6f6f7073' && shown.value.bytes === 5);
    assert.match(shown.value.fault ?? '', /./);
  });

  it('tells no value from an empty one, and cuts long ones', async () => {
    const text = JSON.stringify('x'.repeat(30_000));
    const shown = await decoder(json).shown(message(null, Buffer.from(text)));
    assert.deepEqual(shown.key, { kind: 'null' });
    assert.ok(shown.value.kind === 'text' && shown.value.text.length === 20_000 && shown.value.cut === 30_000);
  });

  it('has bytes without a form as text where they are UTF-8, else in hex', async () => {
    const bytes = decoder(byteArrayConverterPlugins[0].create({}, true));
    assert.deepEqual((await bytes.shown(message(Buffer.from('é'), null))).key, { kind: 'text', text: 'é' });
    assert.deepEqual((await bytes.shown(message(Buffer.from([0xff, 0]), null))).key, {
      kind: 'hex',
      text: 'ff00',
      bytes: 2,
    });
    assert.equal(await bytes.textOf('key', message(Buffer.from([0xff, 0]), null)), 'ff00');
  });
});
