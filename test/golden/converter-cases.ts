import assert from 'node:assert/strict';
import type { Converter, ConverterPlugin, HeaderConverter, HeaderConverterPlugin } from '../../src/connect/api.ts';
import { converterPlugins } from '../../src/converters/registry.ts';
import {
  assertGoldenError,
  decodeBytes,
  decodeSchema,
  decodeValue,
  encodeSchema,
  encodeValue,
  unordered,
  type GoldenError,
  type Json,
  type JsonObject,
} from './golden-data.ts';

export interface ConverterCase {
  readonly id: string;
  readonly class: string;
  readonly op: 'toConnectData' | 'toConnectHeader' | 'fromConnectData' | 'fromConnectHeader';
  readonly config: Readonly<Record<string, string>>;
  readonly isKey: boolean;
  readonly phase: 'configure' | 'convert';
  readonly input: Json;
  readonly output: Json;
}

const plugins = converterPlugins();

/** Runs one recorded case of a converter and asserts its outcome. */
export function checkConverterCase(golden: ConverterCase): void {
  const error = (golden.output as { error?: GoldenError } | null)?.error;
  if (golden.phase === 'configure') {
    assert.ok(error);
    assertThrows(() => create(golden), error);
    return;
  }
  const converter = create(golden);
  if (error !== undefined) {
    assertThrows(() => convert(golden, converter), error);
    return;
  }
  assert.deepEqual(unordered(convert(golden, converter)), unordered(golden.output));
}

function create(golden: ConverterCase): Partial<Converter & HeaderConverter> {
  const type = golden.op.endsWith('Header') ? 'header_converter' : 'converter';
  const plugin = plugins.find((each) => each.className === golden.class && each.type === type);
  assert.ok(plugin, `no ${type} ${golden.class}`);
  return type === 'converter'
    ? (plugin as ConverterPlugin).create(golden.config, golden.isKey)
    : (plugin as HeaderConverterPlugin).create(golden.config);
}

function convert(golden: ConverterCase, converter: Partial<Converter & HeaderConverter>): Json {
  if (golden.op.startsWith('to')) {
    const bytes = decodeBytes(golden.input);
    const data = converter.toConnectHeader?.('t', 'h', bytes) ?? converter.toConnectData?.('t', bytes);
    assert.ok(data);
    return { schema: encodeSchema(data.schema), value: encodeValue(data.value, data.schema) };
  }
  const input = golden.input as JsonObject;
  const schema = decodeSchema(input['schema']);
  const value = decodeValue(input['value'] ?? null, schema);
  const bytes =
    converter.fromConnectHeader === undefined
      ? converter.fromConnectData?.('t', schema, value)
      : converter.fromConnectHeader('t', 'h', schema, value);
  if (bytes === null || bytes === undefined) return null;
  return golden.output !== null && 'utf8' in (golden.output as JsonObject)
    ? { utf8: Buffer.from(bytes).toString('utf8') }
    : { base64: Buffer.from(bytes).toString('base64') };
}

function assertThrows(run: () => unknown, expected: GoldenError): void {
  let result: unknown;
  try {
    result = run();
  } catch (thrown) {
    assertGoldenError(thrown, expected);
    return;
  }
  assert.fail(`nothing was thrown but given: ${JSON.stringify(result)}`);
}
