import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Converter } from '../../../src/connect/api.ts';
import { avroConverterPlugin } from '../../../src/converters/avro/avro-converter.ts';
import { jsonSchemaConverterPlugin } from '../../../src/converters/json-schema/json-schema-converter.ts';
import { protobufConverterPlugin } from '../../../src/converters/protobuf/protobuf-converter.ts';
import { SluiceError } from '../../../src/errors.ts';
import { samples, type Sample } from './arbitrary-data.ts';
import { RegistryStub } from '../../support/registry-stub.ts';

/** The bytes of the message after the schema id, with some of them changed, removed or added. */
const damage = fc.record({
  at: fc.nat(),
  byte: fc.integer({ min: 0, max: 255 }),
  kind: fc.constantFrom('change', 'cut', 'insert'),
});

function damaged(message: Uint8Array, { at, byte, kind }: { at: number; byte: number; kind: string }): Buffer {
  const place = 5 + (at % Math.max(1, message.length - 5));
  const [head, tail] = [message.subarray(0, place), message.subarray(place)];
  if (kind === 'cut') return Buffer.from(head);
  return Buffer.concat([head, Buffer.of(byte), kind === 'change' ? tail.subarray(1) : tail]);
}

describe('damaged messages of a schema registry', () => {
  let registry: RegistryStub;

  before(async () => {
    registry = await RegistryStub.start();
  });

  after(() => registry.stop());

  for (const plugin of [avroConverterPlugin, protobufConverterPlugin, jsonSchemaConverterPlugin]) {
    it(`are other values or faults of the record for ${plugin.className}, found out quickly`, async () => {
      const made: Converter = plugin.create({ 'schema.registry.url': registry.url }, false);
      const check = async ({ schema, values }: Sample, damages: readonly Parameters<typeof damaged>[1][]) => {
        const [value] = values;
        if (value === undefined) return;
        await made.prepareFromConnectData?.('t', schema, value);
        const message = made.fromConnectData('t', schema, value);
        assert.ok(message);
        await made.prepareToConnectData?.('t', message);
        for (const each of damages) {
          const started = performance.now();
          try {
            made.toConnectData('t', damaged(message, each));
          } catch (error) {
            assert.ok(error instanceof SluiceError && error.scope === 'record', String(error));
          }
          assert.ok(performance.now() - started < 5000, 'it took too long');
        }
      };
      const limits = { nestedContainers: plugin !== protobufConverterPlugin, numberKeys: true };
      const property = fc.asyncProperty(samples(limits), fc.array(damage, { minLength: 20, maxLength: 20 }), check);
      await fc.assert(property, { numRuns: 40 });
      made.close?.();
    });
  }
});
