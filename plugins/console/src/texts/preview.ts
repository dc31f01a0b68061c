/** Texts of previews of what a sink would write. */
export const texts = {
  null: 'null',
  /** `hasFaults`: some of the rows, perhaps all, would be refused. */
  rowsOf: (operation: 'store' | 'delete', table: string, hasFaults: boolean) => {
    if (hasFaults) return operation === 'store' ? `Rows for ${table}` : `Rows to delete from ${table}`;
    return `Rows that would be ${operation === 'store' ? 'stored in' : 'deleted from'} ${table}`;
  },
  lines: 'Lines',
  sql: 'SQL',
} as const;
