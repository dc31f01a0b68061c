import { BoundedMap } from '../../../../src/data/bounded-map.ts';
import type { SinkRecord } from '../../../../src/data/record.ts';
import type { TableName } from '../../../../src/data/row-batch.ts';
import type { ConnectValue } from '../../../../src/data/value.ts';
import { memberOf } from './struct-envelope.ts';

const SOURCE = /^source\.(.+)$/;
/** Cache size for table names by topic. */
const MAX_KNOWN = 1_000;

/** Returns why a `table.name.format` is invalid; `undefined` if it is valid. */
export function tableFormatProblem(format: string): string | undefined {
  for (const { placeholder: name } of partsOf(format)) {
    if (name !== undefined && name !== 'topic' && !SOURCE.test(name)) {
      return `unknown placeholder \${${name}}; supported are \${topic} and \${source.FIELD}`;
    }
  }
  return format.trim() === '' ? 'a table must have a name' : undefined;
}

/** Literal text, followed by an optional placeholder without its braces. */
interface FormatPart {
  readonly text: string;
  readonly placeholder: string | undefined;
}

function partsOf(format: string): FormatPart[] {
  const parts: FormatPart[] = [];
  let at = 0;
  for (;;) {
    const open = format.indexOf('${', at);
    const close = open < 0 ? -1 : format.indexOf('}', open);
    if (close < 0) return [...parts, { text: format.slice(at), placeholder: undefined }];
    parts.push({ text: format.slice(at, open), placeholder: format.slice(open + 2, close) });
    at = close + 1;
  }
}

/**
 * Names tables by `table.name.format`: `${topic}` is the record's topic, `${source.FIELD}` a field of the block
 * `source` of a Debezium event. A dot separates schema and table, as in Confluent's sink.
 */
export class TableNames {
  readonly #parts: readonly FormatPart[];
  /** True if the name depends on the topic only. */
  readonly byTopicAlone: boolean;
  readonly #byTopic = new BoundedMap<string, TableName | string>(MAX_KNOWN);
  readonly #byText = new BoundedMap<string, TableName | string>(MAX_KNOWN);

  constructor(format: string) {
    this.#parts = partsOf(format);
    this.byTopicAlone = this.#parts.every(({ placeholder = 'topic' }) => placeholder === 'topic');
  }

  /** Returns the reason as a string if there is no name. Equal names are the same object. */
  of(record: Pick<SinkRecord, 'topic' | 'value'>): TableName | string {
    if (!this.byTopicAlone) return this.#make(record);
    return this.#byTopic.getOrCreate(record.topic, () => this.#make(record));
  }

  #make({ topic, value }: Pick<SinkRecord, 'topic' | 'value'>): TableName | string {
    let missing: string | undefined;
    let text = '';
    for (const { text: before, placeholder } of this.#parts) {
      text += before;
      if (placeholder === undefined) continue;
      const part = placeholder === 'topic' ? topic : sourceField(value, placeholder.slice('source.'.length));
      if (part === undefined) missing ??= placeholder;
      text += part ?? '';
    }
    if (missing !== undefined) return `table.name.format uses ${missing}, which the record does not have`;
    return this.#byText.getOrCreate(text, () => parsedName(text));
  }
}

function parsedName(text: string): TableName | string {
  const names = text.split('.');
  const [first = '', second] = names;
  if (names.length > 2 || names.includes('')) {
    return `"${text}" is not a table name, with or without a schema: set table.name.format`;
  }
  return second === undefined ? { name: first } : { schema: first, name: second };
}

function sourceField(value: ConnectValue, name: string): string | undefined {
  const part = memberOf(memberOf(value, 'source') ?? null, name);
  return typeof part === 'string' || typeof part === 'number' ? String(part) : undefined;
}
