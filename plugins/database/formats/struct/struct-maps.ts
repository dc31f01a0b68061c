import { BoundedMap } from '../../../../src/data/bounded-map.ts';
import { javaClassOf } from '../../../../src/data/java-class.ts';
import { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';
import { schemaOf, UNTYPED } from './struct-types.ts';

export type ConnectMap = ReadonlyMap<ConnectValue, ConnectValue>;

/** Forms of maps that are remembered; a source of ever new keys must not fill the memory. */
const MAX_FORMS = 1_000;

/**
 * Gives maps, which came without a schema, one by what they hold: equal keys with values of equal types give the same Schema
 * object. A null says nothing of its type, so it fits a form that knows more.
 */
export class MapForms {
  readonly #forms = new BoundedMap<string, Schema>(MAX_FORMS);
  #last: Schema | undefined;

  /** The map as a struct; a string is what keeps it from being one. */
  toStruct(map: ConnectMap): Struct | string {
    const values = [...map.values()];
    if (this.#last !== undefined && isOfForm(map, this.#last)) return new Struct(this.#last, values);
    const fields: { name: string; schema: Schema }[] = [];
    let signature = '';
    for (const [name, value] of map) {
      if (typeof name !== 'string') return `a map with a key that is no text has no columns: ${javaClassOf(name)}`;
      const schema = schemaOf(value);
      fields.push({ name, schema });
      signature += `${String(name.length)}:${name}${schema.name ?? schema.type}${schema === UNTYPED ? '?' : ''};`;
    }
    const form = this.#forms.getOrCreate(signature, () => Schema.struct(fields));
    this.#last = form;
    return new Struct(form, values);
  }
}

function isOfForm(map: ConnectMap, { fields }: Schema): boolean {
  if (map.size !== fields.length) return false;
  let index = 0;
  for (const [name, value] of map) {
    const field = fields[index++];
    if (field?.name !== name || (value !== null && schemaOf(value) !== field.schema)) return false;
  }
  return true;
}
