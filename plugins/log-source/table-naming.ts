export interface TableNaming {
  readonly schema: string;
  readonly name: string;
}

/** `schema.table`, as lists of tables name it. */
export function tableText({ schema, name }: TableNaming): string {
  return `${schema}.${name}`;
}
