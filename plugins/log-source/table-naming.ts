export interface TableNaming {
  readonly schema: string;
  readonly name: string;
}

/** Returns `schema.table`, the form that lists of tables use. */
export function tableText({ schema, name }: TableNaming): string {
  return `${schema}.${name}`;
}
