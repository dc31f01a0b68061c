/** Texts of previews of what a sink would write. */
export const texts = {
  null: 'null',
  operations: { store: 'stored in', delete: 'deleted from' } as Readonly<Record<string, string>>,
  rowsOf: (operation: string, table: string) => `Rows ${operation} ${table}`,
  lines: 'Lines',
  sql: 'SQL',
} as const;
