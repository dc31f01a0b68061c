import { parseOptions } from '../../config/parse.ts';
import type { SchemaAndValue } from '../../connect/api.ts';
import type { Converters } from '../../connect/pipeline/record-converter.ts';
import { JsonConverter, jsonConverterOptions } from '../../converters/json-converter.ts';
import { UnavailableError, toError } from '../../errors.ts';
import type { ConsumedRecord } from '../../kafka/api.ts';
import type { ShownMessage, ShownPart } from './message-answers.ts';

const MAX_TEXT = 20_000;
const MAX_HEX_BYTES = 1024;
const MAX_HEADERS = 50;
const MAX_HEADER_TEXT = 1000;

const asJson = new JsonConverter(
  parseOptions(jsonConverterOptions, {
    'converter.type': 'value',
    'schemas.enable': 'false',
    'decimal.format': 'NUMERIC',
  }),
  false,
);

/**
 * Decodes messages as the connector does. A part that cannot be decoded contains the error, for example if a service
 * that the converter needs is unreachable.
 */
export class MessageDecoder {
  readonly #converters: Converters;

  constructor(converters: Converters) {
    this.#converters = converters;
  }

  /**
   * The whole text of a key or value; `null`: the record has none; `undefined`: it cannot be decoded. Throws an
   * UnavailableError if a service that the converter needs is unreachable.
   */
  async textOf(which: 'key' | 'value', record: ConsumedRecord): Promise<string | null | undefined> {
    try {
      return partText(await this.#converted(which, record.topic, record[which])).text;
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      return undefined;
    }
  }

  async shown(record: ConsumedRecord): Promise<ShownMessage> {
    const { topic, partition, offset, timestamp, timestampType, key, value, headers } = record;
    return {
      ...{ topic, partition, offset, timestampType },
      timestamp: timestamp < 0 ? null : timestamp,
      bytes: (key?.length ?? 0) + (value?.length ?? 0),
      key: await this.#part(key, () => this.#converted('key', topic, key)),
      value: await this.#part(value, () => this.#converted('value', topic, value)),
      headers: await Promise.all(
        headers.slice(0, MAX_HEADERS).map(async (header) => ({
          key: header.key,
          value: await this.#part(
            header.value,
            () => Promise.resolve(this.#converters.header.toConnectHeader(topic, header.key, header.value)),
            MAX_HEADER_TEXT,
          ),
        })),
      ),
    };
  }

  async #converted(which: 'key' | 'value', topic: string, bytes: Buffer | null): Promise<SchemaAndValue> {
    const converter = this.#converters[which];
    await converter.prepareToConnectData?.(topic, bytes);
    return converter.toConnectData(topic, bytes);
  }

  async #part(bytes: Buffer | null, convert: () => Promise<SchemaAndValue>, maxText = MAX_TEXT): Promise<ShownPart> {
    if (bytes === null) return { kind: 'null' };
    try {
      const { kind, text } = partText(await convert());
      if (text === null) return { kind: 'null' };
      if (kind === 'hex') return hexPart(bytes);
      return text.length > maxText ? { kind, text: text.slice(0, maxText), cut: text.length } : { kind, text };
    } catch (error) {
      return { ...hexPart(bytes), fault: toError(error).message };
    }
  }
}

/**
 * Texts are unchanged. Bytes become text if they are UTF-8 without NUL characters; otherwise they become hexadecimal.
 * Other values become JSON without schemas, in which numbers keep every digit.
 */
function partText({ schema, value }: SchemaAndValue): { kind: 'text' | 'json' | 'hex'; text: string | null } {
  if (value === null) return { kind: 'text', text: null };
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (value instanceof Uint8Array) {
    const text = utf8Text(value);
    return text === undefined ? { kind: 'hex', text: Buffer.from(value).toString('hex') } : { kind: 'text', text };
  }
  const bytes = asJson.fromConnectData('', schema, value);
  return { kind: 'json', text: bytes === null ? null : Buffer.from(bytes).toString() };
}

function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function hexPart(bytes: Buffer): ShownPart & { readonly kind: 'hex' } {
  return { kind: 'hex', text: bytes.subarray(0, MAX_HEX_BYTES).toString('hex'), bytes: bytes.length };
}
