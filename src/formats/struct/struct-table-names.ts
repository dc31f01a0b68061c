import type { SinkRecord } from '../../data/record.ts';
import type { TableName } from '../../data/row-batch.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';

const PLACEHOLDER = /\$\{([^}]*)\}/g;
const SOURCE = /^source\.(.+)$/;
/** Topics whose tables are remembered. */
const MAX_KNOWN = 1_000;

/** Why a `table.name.format` cannot be used; `undefined` when it can. */
export function tableFormatProblem(format: string): string | undefined {
  for (const [whole, name = ''] of format.matchAll(PLACEHOLDER)) {
    if (name !== 'topic' && !SOURCE.test(name)) {
      return `it has no placeholder ${whole}; there are \${topic} and \${source.FIELD}`;
    }
  }
  return format.trim() === '' ? 'a table must have a name' : undefined;
}

/**
 * Names tables by `table.name.format`: `${topic}` is the record's topic, `${source.FIELD}` a field of the block `source` of a
 * Debezium event. A dot parts schema and table, as in Confluent's sink.
 */
export class TableNames {
  readonly #format: string;
  /** Whether the topic decides, whatever the record holds. */
  readonly byTopicAlone: boolean;
  readonly #known = new Map<string, TableName | string>();

  constructor(format: string) {
    this.#format = format;
    this.byTopicAlone = [...format.matchAll(PLACEHOLDER)].every(([, name]) => name === 'topic');
  }

  /** The same object for the same topic where the topic decides; a string is why there is no name. */
  of(record: Pick<SinkRecord, 'topic' | 'value'>): TableName | string {
    const known = this.byTopicAlone ? this.#known.get(record.topic) : undefined;
    if (known !== undefined) return known;
    const name = this.#make(record);
    if (!this.byTopicAlone) return name;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(record.topic, name);
    return name;
  }

  #make({ topic, value }: Pick<SinkRecord, 'topic' | 'value'>): TableName | string {
    let missing: string | undefined;
    const text = this.#format.replace(PLACEHOLDER, (_, name: string) => {
      if (name === 'topic') return topic;
      const part = sourceField(value, name.slice('source.'.length));
      if (part === undefined) missing ??= name;
      return part ?? '';
    });
    if (missing !== undefined) return `table.name.format asks for ${missing}, which the record does not have`;
    const parts = text.split('.');
    const [first = '', second] = parts;
    if (parts.length > 2 || parts.includes('')) {
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
