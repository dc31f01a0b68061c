import { BoundedMap } from '../../../../src/data/bounded-map.ts';
import type { SinkRecord } from '../../../../src/data/record.ts';
import type { TableName } from '../../../../src/data/row-batch.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';

const SOURCE = /^source\.(.+)$/;
/** Topics whose tables are remembered. */
const MAX_KNOWN = 1_000;

/** Why a `table.name.format` cannot be used; `undefined` when it can. */
export function tableFormatProblem(format: string): string | undefined {
  for (const { placeholder: name } of partsOf(format)) {
    if (name !== undefined && name !== 'topic' && !SOURCE.test(name)) {
      return `it has no placeholder \${${name}}; there are \${topic} and \${source.FIELD}`;
    }
  }
  return format.trim() === '' ? 'a table must have a name' : undefined;
}

/** Text as it is, and then perhaps a placeholder, without its braces. */
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
 * Names tables by `table.name.format`: `${topic}` is the record's topic, `${source.FIELD}` a field of the block `source` of a
 * Debezium event. A dot parts schema and table, as in Confluent's sink.
 */
export class TableNames {
  readonly #parts: readonly FormatPart[];
  /** Whether the topic decides, whatever the record holds. */
  readonly byTopicAlone: boolean;
  readonly #known = new BoundedMap<string, TableName | string>(MAX_KNOWN);

  constructor(format: string) {
    this.#parts = partsOf(format);
    this.byTopicAlone = this.#parts.every(({ placeholder = 'topic' }) => placeholder === 'topic');
  }

  /** The same object for the same topic where the topic decides; a string is why there is no name. */
  of(record: Pick<SinkRecord, 'topic' | 'value'>): TableName | string {
    if (!this.byTopicAlone) return this.#make(record);
    return this.#known.getOrCreate(record.topic, () => this.#make(record));
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
    if (missing !== undefined) return `table.name.format asks for ${missing}, which the record does not have`;
    const names = text.split('.');
    const [first = '', second] = names;
    if (names.length > 2 || names.includes('')) {
      return `"${text}" is no name of a table or of a schema and a table: set table.name.format`;
    }
    return second === undefined ? { name: first } : { schema: first, name: second };
  }
}

function sourceField(value: ConnectValue, name: string): string | undefined {
  const source = value instanceof Struct && value.schema.field('source') !== undefined ? value.get('source') : null;
  if (!(source instanceof Struct) || source.schema.field(name) === undefined) return undefined;
  const part = source.get(name);
  return typeof part === 'string' || typeof part === 'number' ? String(part) : undefined;
}
