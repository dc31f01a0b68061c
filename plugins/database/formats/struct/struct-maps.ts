import { BoundedMap } from '../../../../src/data/bounded-map.ts';
import { javaClassOf } from '../../../../src/data/java-class.ts';
import { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';
import { schemaOf, UNTYPED } from './struct-types.ts';

export type ConnectMap = ReadonlyMap<ConnectValue, ConnectValue>;

/** Cache size; a source with ever-changing keys must not fill the memory. */
const MAX_FORMS = 1_000;

/**
 * Derives schemas for maps. Maps with equal keys and equal types of values get the same Schema object. A null also
 * matches the type that its key has in the schema of the previous map.
 */
export class MapForms {
  readonly #forms = new BoundedMap<string, Schema>(MAX_FORMS);
  #last: Schema | undefined;

  /** Converts the map to a struct. Returns a string with the reason if that is not possible. */
  toStruct(map: ConnectMap): Struct | string {
    const values = [...map.values()];
    if (this.#last !== undefined && hasForm(map, this.#last)) return new Struct(this.#last, values);
    const fields: { name: string; schema: Schema }[] = [];
    let signature = '';
    for (const [name, value] of map) {
      if (typeof name !== 'string')
        return `a map must have keys of type string to become columns, not ${javaClassOf(name)}`;
      const schema = schemaOf(value);
      fields.push({ name, schema });
      signature += `${String(name.length)}:${name}${schema.name ?? schema.type}${schema === UNTYPED ? '?' : ''};`;
    }
    const form = this.#forms.getOrCreate(signature, () => Schema.struct(fields));
    this.#last = form;
    return new Struct(form, values);
  }
}

function hasForm(map: ConnectMap, { fields }: Schema): boolean {
  if (map.size !== fields.length) return false;
  let index = 0;
  for (const [name, value] of map) {
    const field = fields[index++];
    if (field?.name !== name || (value !== null && schemaOf(value) !== field.schema)) return false;
  }
  return true;
}
